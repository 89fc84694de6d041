"""Resolves the names in T-SQL texts against DDL with Microsoft's DacFx, offline.

Run with the Python of the installation, the folder that holds OpenSSL 1.1 in LD_LIBRARY_PATH. Standard input is JSON:
a list of databases, each a list of CREATE statements; standard output is JSON: for each the list of what DacFx says
against it.
"""
import json
import os
import re
import subprocess
import sys
import sysconfig
import tempfile

PACKAGES = sysconfig.get_path("purelib")


def icu_version():
    """The system's ICU, such as 72; .NET Core 3.1 itself looks for the versions of its own time only."""
    path = os.environ.get("PATH", "") + ":/sbin:/usr/sbin"
    cache = subprocess.run(["ldconfig", "-p"], env={"PATH": path}, capture_output=True, text=True, check=True).stdout
    versions = [int(version) for version in re.findall(r"libicuuc\.so\.(\d+) .*x86-64", cache)]
    if not versions:
        sys.exit("the system library libicu is missing")
    return max(versions)


def load_dacfx():
    os.environ["CLR_ICU_VERSION_OVERRIDE"] = f"{icu_version()}.1"
    from clr_loader import get_coreclr
    from pythonnet import set_runtime

    framework = {"name": "Microsoft.NETCore.App", "version": "3.1.0"}
    with tempfile.NamedTemporaryFile("w", suffix=".runtimeconfig.json") as settings:
        json.dump({"runtimeOptions": {"tfm": "netcoreapp3.1", "framework": framework}}, settings)
        settings.flush()
        set_runtime(get_coreclr(runtime_config=settings.name, dotnet_root=f"{PACKAGES}/dotnetcore2/bin"))
        import clr
    libraries = f"{PACKAGES}/mssqlcli/mssqltoolsservice/bin"
    sys.path.append(libraries)
    for name in ("TransactSql.ScriptDom", "Dac", "Dac.Extensions"):
        clr.AddReference(f"{libraries}/Microsoft.SqlServer.{name}.dll")


def findings(statements):
    from Microsoft.SqlServer.Dac.Model import SqlServerVersion, TSqlModel, TSqlModelOptions

    said = []
    model = TSqlModel(SqlServerVersion.Sql150, TSqlModelOptions())
    for statement in statements:
        try:
            model.AddObjects(statement)
        except Exception as error:  # a statement that does not parse
            said.append(str(error))
    for message in model.Validate():
        if message.Number != UNRESOLVED_WARNING or "[sys]." not in message.Message:
            said.append(f"{message.Prefix}{message.Number} {message.Message}")
    model.Dispose()
    return said


# A name that may stand for something outside the model: the objects of the server itself are not in it.
UNRESOLVED_WARNING = 71502

if __name__ == "__main__":
    load_dacfx()
    json.dump([findings(statements) for statements in json.load(sys.stdin)], sys.stdout)
