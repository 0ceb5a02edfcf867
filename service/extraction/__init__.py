from service.extraction.decode import decode
from service.extraction.dom import parse, text_of
from service.extraction.noise import prune
from service.extraction.density import measure, rank
from service.extraction.blocks import assemble
from service.settings import Extraction
class P: pass
def extract(html,url=None,content_type=None):
    root=parse(decode(html,content_type).text,max_nodes=250000,max_depth=500)
    prune(root); m=measure(root); r=rank(root,m,Extraction())
    p=P(); p.text=' '.join(text_of(e) for e in assemble(r[0][1],m,Extraction())) if r else ''; return p
