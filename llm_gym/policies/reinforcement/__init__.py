"""Policies of WebShop that learned by acting: advantage actor-critic, with the imitation model or a recurrent one."""
