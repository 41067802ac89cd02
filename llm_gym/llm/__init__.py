"""Chat models: a protocol, an endpoint, and layers around it."""

from llm_gym.llm.budgeted import Budgeted
from llm_gym.llm.cached import Cached
from llm_gym.llm.chat import ChatClient, Completion, Message, Request, Tool, ToolCall
from llm_gym.llm.counted import Counted, Totals
from llm_gym.llm.embedding import Embedder, EndpointEmbedder, HashingEmbedder
from llm_gym.llm.limited import Limited
from llm_gym.llm.local_server import LocalServer
from llm_gym.llm.memory import VectorMemory, WindowMemory
from llm_gym.llm.minilm import MiniLMEmbedder
from llm_gym.llm.openai_compatible import OpenAICompatible
from llm_gym.llm.prices import Prices
from llm_gym.llm.prompt import Assembled, Part, assemble
from llm_gym.llm.retrying import Retrying
from llm_gym.llm.scripted import ScriptedClient
from llm_gym.llm.tokens import count_tokens
from llm_gym.llm.transcribed import Transcribed

__all__ = [
    "Assembled",
    "Budgeted",
    "Cached",
    "ChatClient",
    "Completion",
    "Counted",
    "Embedder",
    "EndpointEmbedder",
    "HashingEmbedder",
    "Limited",
    "LocalServer",
    "Message",
    "MiniLMEmbedder",
    "OpenAICompatible",
    "Part",
    "Prices",
    "Request",
    "Retrying",
    "ScriptedClient",
    "Tool",
    "ToolCall",
    "Totals",
    "Transcribed",
    "VectorMemory",
    "WindowMemory",
    "assemble",
    "count_tokens",
]
