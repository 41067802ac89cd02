"""The matching expert of WebShop: it looks at many products and buys what agrees best with the instruction."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from llm_gym.core import Decision, Info, Opinion
from llm_gym.envs.webshop.goals import query_of
from llm_gym.policies.base import Policy
from llm_gym.policies.matching.judge import Judge
from llm_gym.policies.matching.memory import NEXT, Memory, Sighting
from llm_gym.policies.matching.model import SHIPPED, MatchModel
from llm_gym.policies.shopper import BACK, BUY, PREVIOUS, ShopPage, search_action


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to look before buying; confidences in [0, 1]."""

    actions: int = 80
    pages: int = 3
    sure: float = 0.9
    open: float = 0.02
    opened: int = 20
    read: float = 0.1
    reads: int = 4
    turn: float = 0.5
P = Patience()


class MatchPolicy(Policy):
    name = "match"

    def __init__(self, folder: str | Path | None = None) -> None:
        self.folder = folder
        self._model: MatchModel | None = None
        self._forget()

    def _forget(self):
        self._memory = Memory(); self._judge=None; self._clicked=set(); self._count={}
    def reset(self, seed=None, trial=0): self._forget()

    def model(self):
        if self._model is None: self._model = MatchModel.read(Path(self.folder) if self.folder else SHIPPED)
        return self._model

    def act(self, observation, info):
        page = ShopPage.read(info)
        if page is None: return Decision(None)
        self._memory.see(page, info.get("page", observation))
        a = self._next(page)
        self.note(observation, info, a) if a else None
        return Decision(a)

    def note(self, observation, info, action):
        page = ShopPage.read(info)
        if page is None: return
        self._memory.see(page, info.get("page", observation))
        self._memory.follow(page, action)
        if page.screen in ("results","search"): self._clicked.clear()
        else: self._clicked.add(action)

    def _next(self, page):
        m = self._memory
        if self._judge is None or self._judge.goal != page.goal: self._judge = Judge(self.model(), page.goal)
        kind, what = self._plan(page)
        return self._route(page, kind, what)

    def _plan(self, page):
        m=self._memory
        if not m.pages: return "search", search_action(query_of(page.goal))[7:-1]
        conf=self._judge.confidences(m)
        if not conf: return "search", "product"
        opened={a:c for a,c in conf.items() if m.products[a].opened}
        fresh={a:c for a,c in conf.items() if not m.products[a].opened}
        best=max(opened,key=opened.get,default=None); bc=opened.get(best,0)
        if best is None and fresh: return "open", max(fresh,key=fresh.get)
        query=next(iter(m.pages)); 
        dist=max(m.pages.values())+6
        if m.steps>=P.actions-dist: return "buy",best
        if bc>=P.sure: return "buy",best
        if len(opened)<P.opened and fresh:
            f=max(fresh,key=fresh.get)
            if fresh[f]>=P.open*1.0 and (m.products[f].query==m.query and m.products[f].number==m.number or fresh[f]>bc): return "open",f
        ranked=sorted(opened,key=opened.get,reverse=True)[:P.reads]
        for a in ranked:
            if opened[a]>=P.read*max(bc,.05) and m.products[a].features is None: return "read",a
        if bc<P.turn and m.query is not None and m.pages.get(m.query,0)<P.pages and m.query not in m.ended: return "turn",None
        return "buy",best

    def _route(self, page, kind, what):
        m=self._memory
        if page.screen=="done": return None
        if page.screen not in ("search","results","item"):
            return PREVIOUS if PREVIOUS in page.admissible else None
        if page.screen=="item":
            if what is not None and m.open==what and kind!="search":
                if kind=="read":
                    return "click[features]"
                if kind=="buy":
                    for f in self._judge.fits(page.options):
                        c=f"click[{f.value}]"
                        if f.confidence>=.2 and page.chosen.get(f.name)!=f.value and c in page.admissible and c not in self._clicked: return c
                    return BUY
            return BACK if kind=="search" else PREVIOUS
        if page.screen=="search":
            q = what if kind=="search" else m.products[what].query if what else m.query
            return search_action(q)
        if kind=="search": return BACK
        if kind=="turn": return NEXT
        s=m.products[what]
        if s.query!=m.query: return BACK
        if s.number!=m.number: return NEXT if s.number>m.number else PREVIOUS
        at=[r.asin for r in page.results].index(what)
        return page.click_result(at)
