from service.extraction import extract
