import ast, os, sys, traceback
_in = os.fdopen(os.dup(0), "rb")
_null = os.open(os.devnull, os.O_RDONLY)
os.dup2(_null, 0)
_space = {"__name__": "__main__", "__builtins__": __builtins__}
while True:
    try:
        _head = _in.readline()
        if not _head:
            break
        _token, _length = _head.split()
        _code = _in.read(int(_length)).decode()
    except KeyboardInterrupt:
        continue
    _status = 0
    try:
        _tree = ast.parse(_code, "<run_code>")
        _last = None
        if _tree.body and isinstance(_tree.body[-1], ast.Expr):
            _last = ast.Expression(_tree.body.pop().value)
        exec(compile(_tree, "<run_code>", "exec"), _space)
        if _last is not None:
            _value = eval(compile(_last, "<run_code>", "eval"), _space)
            if _value is not None:
                _space["_"] = _value
                print(repr(_value))
    except SystemExit as e:
        _status = 0 if e.code in (None, 0) else 1
    except BaseException:
        _kind, _error, _trace = sys.exc_info()
        while _trace is not None and _trace.tb_frame.f_code.co_filename != "<run_code>":
            _trace = _trace.tb_next
        traceback.print_exception(_kind, _error, _trace)
        _status = 1
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except Exception:
        pass
    os.write(1, b"\n%s %d\n" % (_token, _status))
