import { isTsql, type PlatformName, parsePlatform } from '../../../protocol/platform.ts';

export interface PlatformGuess {
  readonly platform: PlatformName;
  /** What in the text tells, as a sentence. */
  readonly reason: string;
}

interface Sign {
  readonly platform: PlatformName;
  readonly pattern: RegExp;
  readonly weight: number;
  /** Ends the sentence "The file has …". */
  readonly what: string;
}

const goLine = /^[ \t]*GO(?:[ \t]+\d+)?[ \t]*$/im;
const nameInBrackets = /\[[A-Za-z_][\w $]*\]\s*(?:\.|\[|\(|,|AS\b|NOT\b|NULL\b|int\b|n?varchar\b)/i;

/** Signs in the text without comments and strings. */
const signs: readonly Sign[] = [
  { platform: 'fabric', pattern: /\bAS\s+CLONE\s+OF\b/i, weight: 6, what: 'AS CLONE OF' },
  { platform: 'fabric', pattern: /\bWITH\s*\(\s*CLUSTER\s+BY\s*\(/i, weight: 6, what: 'WITH (CLUSTER BY (…))' },
  {
    platform: 'synapse',
    pattern: /\bDISTRIBUTION\s*=\s*(?:HASH|ROUND_ROBIN|REPLICATE)/i,
    weight: 6,
    what: 'DISTRIBUTION',
  },
  {
    platform: 'fabric',
    pattern: /\bOPTION\s*\([^;)]*\bFOR\s+TIMESTAMP\s+AS\s+OF\b/i,
    weight: 6,
    what: 'OPTION (FOR TIMESTAMP AS OF …)',
  },
  { platform: 'synapse', pattern: /\bRENAME\s+OBJECT\b/i, weight: 6, what: 'RENAME OBJECT' },
  { platform: 'synapse', pattern: /[(,]\s*HEAP\s*[,)]/i, weight: 4, what: 'a HEAP option' },
  {
    platform: 'synapse',
    pattern: /\bCOPY\s+INTO\b[^;]*\bWITH\s*\(\s*(?:FILE_TYPE|CREDENTIAL|FIELDTERMINATOR|FIRSTROW|MAXERRORS)\b/i,
    weight: 6,
    what: 'COPY INTO … WITH (FILE_TYPE …)',
  },
  { platform: 'synapse', pattern: /\bOPTION\s*\(\s*LABEL\s*=/i, weight: 4, what: 'OPTION (LABEL = …)' },
  { platform: 'sqlserver', pattern: goLine, weight: 3, what: 'GO lines' },
  { platform: 'sqlserver', pattern: nameInBrackets, weight: 3, what: 'names in brackets' },
  {
    platform: 'sqlserver',
    pattern: /\b(?:DECLARE|SET|UPDATE|DELETE|INTO|EXEC|FETCH)\s+@\w/i,
    weight: 4,
    what: 'variables with @',
  },
  { platform: 'sqlserver', pattern: /\bn(?:var)?char\s*\(/i, weight: 2, what: 'nvarchar columns' },
  {
    platform: 'sqlserver',
    pattern: /\b(?:datetime2|datetimeoffset|uniqueidentifier|sysname|rowversion|smalldatetime)\b/i,
    weight: 2,
    what: 'types of SQL Server',
  },
  {
    platform: 'sqlserver',
    pattern: /\b(?:IDENTITY\s*\(|GETDATE\s*\(|SYSUTCDATETIME\s*\(|HASHBYTES\s*\(|ISNULL\s*\()/i,
    weight: 2,
    what: 'functions of SQL Server',
  },
  {
    platform: 'sqlserver',
    pattern: /(?:\bFROM|\bINTO|\bTABLE|\bJOIN|\bMERGE|\bUPDATE)\s+#{1,2}\w/i,
    weight: 3,
    what: 'a #temporary table',
  },
  {
    platform: 'sqlserver',
    pattern: /\bSET\s+(?:NOCOUNT|XACT_ABORT|ANSI_NULLS|QUOTED_IDENTIFIER|IDENTITY_INSERT)\b/i,
    weight: 4,
    what: 'SET options of SQL Server',
  },
  {
    platform: 'sqlserver',
    pattern:
      /\b(?:CROSS|OUTER)\s+APPLY\b|\bSELECT\s+(?:DISTINCT\s+)?TOP\b|@@\w|\bBEGIN\s+TRAN\b|\bBEGIN\s+TRY\b|\bWITH\s*\(\s*NOLOCK\b/i,
    weight: 4,
    what: 'clauses of T-SQL',
  },
  {
    platform: 'sqlserver',
    pattern:
      /\b(?:schema|object|type|role|login|user|database|assembly|certificate|endpoint|availability\s+group)\s*::/i,
    weight: 4,
    what: 'a class of securables',
  },
  {
    platform: 'sqlserver',
    pattern:
      /\b(?:xml\s+schema\s+collection|external\s+(?:model|library|language)|a?symmetric\s+key|fulltext\s+(?:catalog|stoplist)|search\s+property\s+list|remote\s+service\s+binding|(?:application|server)\s+role|on\s+(?:contract|service|route))\s*::/i,
    weight: 4,
    what: 'a class of securables',
  },
  {
    platform: 'sqlserver',
    pattern:
      /\bDBCC\s+\w|\bOPTION\s*\(\s*(?:RECOMPILE|MAXDOP|MAXRECURSION|OPTIMIZE\s+FOR|(?:HASH|LOOP|MERGE)\s+JOIN|FORCE\s+ORDER)\b/i,
    weight: 4,
    what: 'clauses of T-SQL',
  },
  {
    platform: 'sqlserver',
    pattern: /\b(?:geometry|geography|hierarchyid)\s*::/i,
    weight: 4,
    what: 'types of SQL Server',
  },
  { platform: 'databricks', pattern: /\bUSING\s+DELTA\b/i, weight: 5, what: 'USING DELTA' },
  {
    platform: 'databricks',
    pattern: /\b(?:STREAMING|LIVE)\s+(?:LIVE\s+)?(?:TABLE|VIEW)\b/i,
    weight: 6,
    what: 'a streaming or live table',
  },
  { platform: 'databricks', pattern: /\bCLUSTER\s+BY\s+(?:AUTO\b|\()/i, weight: 4, what: 'CLUSTER BY' },
  {
    platform: 'databricks',
    pattern: /\bGENERATED\s+(?:ALWAYS|BY\s+DEFAULT)\s+AS\s+IDENTITY\b/i,
    weight: 3,
    what: 'GENERATED … AS IDENTITY',
  },
  { platform: 'databricks', pattern: /\b(?:UPDATE\s+SET|INSERT)\s+\*/i, weight: 5, what: 'UPDATE SET * or INSERT *' },
  { platform: 'databricks', pattern: /\bWITH\s+SCHEMA\s+EVOLUTION\b/i, weight: 6, what: 'WITH SCHEMA EVOLUTION' },
  {
    platform: 'databricks',
    pattern:
      /\b(?:OPTIMIZE\s+(?!FOR\b|CORRELATED\b)[\w.`]+|ZORDER\s+BY|COPY\s+INTO|(?:SHALLOW|DEEP)\s+CLONE|UNITY\s+CATALOG|table_changes\s*\()/i,
    weight: 4,
    what: 'Databricks commands',
  },
  {
    platform: 'databricks',
    pattern:
      /^\s*(?:USE\s+CATALOG|FSCK\s+REPAIR|CONVERT\s+TO\s+DELTA|RESTORE\s+TABLE|REORG\s+TABLE|UNDROP|APPLY\s+CHANGES|(?:CREATE|DROP|ALTER|SHOW)\s+(?:EXTERNAL\s+)?(?:CATALOG|VOLUME|SHARE|RECIPIENT|CONNECTION|LOCATION)S?\b|CREATE\s+FLOW|DESCRIBE\s+(?:HISTORY|DETAIL)|DECLARE\s+(?:OR\s+REPLACE\s+)?VAR(?:IABLE)?\b|DECLARE\s+OR\s+REPLACE\b|SET\s+VAR\b)/im,
    weight: 5,
    what: 'Databricks commands',
  },
  {
    platform: 'databricks',
    pattern: /\*\s*EXCEPT\s*\(\s*\w+\s*[,)]|\?::|\b(?:read_files|read_kafka|ai_query|is_account_group_member)\s*\(/i,
    weight: 4,
    what: 'syntax of Databricks SQL',
  },
  { platform: 'databricks', pattern: /\bTBLPROPERTIES\b/i, weight: 4, what: 'TBLPROPERTIES' },
  {
    platform: 'spark',
    pattern: /\bUSING\s+(?:PARQUET|ORC|CSV|JSON|AVRO|ICEBERG|HUDI)\b/i,
    weight: 5,
    what: 'USING with a file format',
  },
  { platform: 'spark', pattern: /\bPARTITIONED\s+BY\s*\(/i, weight: 4, what: 'PARTITIONED BY' },
  {
    platform: 'spark',
    pattern:
      /\b(?:LATERAL\s+VIEW|INSERT\s+OVERWRITE|INSERT\s+INTO\s+[\w.`]+\s+PARTITION|STORED\s+AS|DISTRIBUTE\s+BY|SORT\s+BY)\b/i,
    weight: 4,
    what: 'clauses of Spark SQL',
  },
  {
    platform: 'spark',
    pattern:
      /^\s*(?:(?:UN)?CACHE\s+(?:LAZY\s+)?(?:TABLE|SELECT)|REFRESH\s+(?:TABLE|FUNCTION|MATERIALIZED|STREAMING)|MSCK\s+REPAIR|ANALYZE\s+TABLES?\b|CLEAR\s+CACHE|(?:ADD|LIST)\s+(?:JAR|FILE|ARCHIVE)S?\b(?!\s*(?:\(|FROM\b))|SHOW\s+(?:VIEWS|PARTITIONS|TBLPROPERTIES|CREATE\s+TABLE|TABLE\s+EXTENDED|USER\s+FUNCTIONS)|DESC(?:RIBE)?\s+(?:TABLE\s+)?EXTENDED|SET\s+spark\.|INSERT\s+INTO\s+TABLE|LOAD\s+DATA)\b/im,
    weight: 5,
    what: 'commands of Spark SQL',
  },
  {
    platform: 'spark',
    pattern:
      /\b(?:explode|explode_outer|posexplode|named_struct|collect_list|collect_set|get_json_object|from_json|to_json|date_format|to_timestamp|from_unixtime|unix_timestamp|regexp_extract|nvl2?|array_contains|map_from_arrays|stack|xxhash64|sha2|monotonically_increasing_id|input_file_name)\s*\(/i,
    weight: 3,
    what: 'functions of Spark SQL',
  },
  {
    platform: 'spark',
    pattern:
      /\b(?:VERSION|TIMESTAMP)\s+AS\s+OF\b|\bLEFT\s+(?:ANTI|SEMI)\s+JOIN\b|\bRLIKE\b|\bAS\s+STRING\s*\)|\bTIMESTAMP_NTZ\b|\|>|\bIDENTIFIER\s*\(|\bRENAME\s+COLUMN\b[^;]*`|\b(?:ADD|REPLACE)\s+COLUMNS\s*\(|\bCURRENT_TIMESTAMP\s*\(\s*\)/i,
    weight: 4,
    what: 'clauses of Spark SQL',
  },
  { platform: 'spark', pattern: /[\w`]:[\w`[][^\s,;():]*::\w/, weight: 4, what: 'paths into JSON' },
  { platform: 'spark', pattern: /<=>/, weight: 3, what: '<=>' },
  { platform: 'spark', pattern: /`\w+`/, weight: 2, what: 'names in backticks' },
  { platform: 'spark', pattern: /\b(?:ARRAY|MAP|STRUCT)\s*</i, weight: 3, what: 'nested types' },
  {
    platform: 'spark',
    // The rare word first, then what stands before it: the other way round every word of a long text is tried.
    pattern: /STRING\b(?<=[\s(]\w+\s+STRING)\s*(?:,|\)|NOT\s+NULL|COMMENT)/i,
    weight: 2,
    what: 'STRING columns',
  },
  {
    platform: 'duckdb',
    pattern: /\b(?:read_csv|read_csv_auto|read_parquet|read_json|read_json_auto|getvariable|list_transform)\s*\(/i,
    weight: 5,
    what: 'functions of DuckDB',
  },
  {
    platform: 'duckdb',
    pattern: /\b(?:INSERT\s+OR\s+(?:REPLACE|IGNORE)|ON\s+CONFLICT|CREATE\s+(?:OR\s+REPLACE\s+)?(?:TEMP\s+)?MACRO)\b/i,
    weight: 5,
    what: 'statements of DuckDB',
  },
  { platform: 'duckdb', pattern: /(?:^|;)\s*FROM\s+[\w."'(]/i, weight: 3, what: 'a query that begins with FROM' },
  { platform: 'duckdb', pattern: /\bSET\s+VARIABLE\b/i, weight: 3, what: 'SET VARIABLE' },
  {
    platform: 'duckdb',
    pattern:
      /\b(?:nextval|currval|strftime|strptime|list_value|list_filter|list_sort|list_aggregate|struct_pack|regexp_matches|epoch_ms|epoch|md5_number|read_text|glob|query_table|arg_max|arg_min|unnest|generate_series|(?<!\.|\b(?:ADD|REPLACE)\s+)COLUMNS)\s*\(/i,
    weight: 3,
    what: 'functions of DuckDB',
  },
  {
    platform: 'duckdb',
    pattern:
      /\*\s*EXCLUDE\b|\bASOF\s+(?:\w+\s+)?JOIN\b|\bPOSITIONAL\s+JOIN\b|\bUSING\s+SAMPLE\b|\bMAP\s*\{|\{\s*'?'?\w*'?'?\s*:|=\s*\[\s*(?:''|\d)|\b(?:INTEGER|INT|VARCHAR|DOUBLE|BIGINT|TEXT)\[\d*\]|\bDISTINCT\s+ON\s*\(|\bAS\s+ENUM\b|\bEXCLUDE\s*\(|->>|\[\s*(?:''|\d+)\s*(?:,\s*(?:''|\d+)\s*)+\]|\bUNPIVOT\s+\w+\s+ON\b|\bPIVOT\s+\w+\s+ON\b/i,
    weight: 4,
    what: 'clauses of DuckDB',
  },
  {
    platform: 'duckdb',
    pattern:
      /^\s*(?:COPY\s+[^;]*\s(?:FROM|TO)\s*''|COPY\s*\(|(?:EXPORT|IMPORT)\s+DATABASE|CREATE\s+(?:OR\s+REPLACE\s+)?(?:PERSISTENT\s+|TEMPORARY\s+)?SECRET\b|(?:FORCE\s+)?INSTALL|LOAD\s+\w+\s*;)/im,
    weight: 4,
    what: 'statements of DuckDB',
  },
  {
    platform: 'duckdb',
    pattern: /^\s*(?:PRAGMA|ATTACH|DETACH|INSTALL|FORCE\s+CHECKPOINT|SUMMARIZE)\b/im,
    weight: 4,
    what: 'statements of DuckDB',
  },
  {
    platform: 'duckdb',
    pattern: /\b(?:HUGEINT|UBIGINT|UINTEGER|UTINYINT|USMALLINT|TIMESTAMPTZ|TIMESTAMP_S)\b/i,
    weight: 4,
    what: 'types of DuckDB',
  },
  {
    platform: 'duckdb',
    pattern:
      /[\w)\]'"](?<!\b(?:geometry|geography|hierarchyid|schema|object|type|role|login|user|database|assembly))::[A-Za-z]/i,
    weight: 2,
    what: 'casts by ::',
  },
  {
    platform: 'duckdb',
    // Spark has these, too, but mostly with signs of its own beside them; T-SQL has none of them.
    pattern:
      /\bCREATE\s+(?:OR\s+REPLACE\s+)?(?:TEMP(?:ORARY)?\s+)?(?:TABLE|VIEW|SCHEMA|SEQUENCE)\s+IF\s+NOT\s+EXISTS\b|\bCREATE\s+(?:OR\s+REPLACE\s+(?:TEMP(?:ORARY)?\s+)?TABLE|(?:OR\s+REPLACE\s+)?TEMP(?:ORARY)?\s+(?:TABLE|VIEW))\b|\bLIMIT\s+\d+\s*(?:;|\)|OFFSET\b|$)/i,
    weight: 2,
    what: 'statements that T-SQL lacks',
  },
  {
    platform: 'duckdb',
    pattern: /\b(?:UUID|BLOB)\b(?=\s*(?:,|\)|NOT\s+NULL|NULL\b|DEFAULT\b|PRIMARY\s+KEY))/i,
    weight: 2,
    what: 'types of DuckDB',
  },
  {
    platform: 'duckdb',
    // T-SQL has no BOOLEAN, and the VARCHAR of Spark always has a length.
    pattern:
      /^(?=[\s\S]*\bBOOLEAN\s*(?:,|\)|NOT\s+NULL|NULL\b|DEFAULT\b))(?=[\s\S]*\bVARCHAR\s*(?:,|\)|NOT\s+NULL|NULL\b|DEFAULT\b|PRIMARY\s+KEY))/i,
    weight: 2,
    what: 'BOOLEAN beside VARCHAR without a length',
  },
  {
    platform: 'duckdb',
    // T-SQL's timestamp is a row version, which nobody calls a date.
    pattern:
      /TIMESTAMP\b(?<=\b(?!timestamp\b)\w*(?:date|time|_at|_ts|valid_?from|valid_?to|start|end|ldts)\w*"?\s+TIMESTAMP)/i,
    weight: 2,
    what: 'dates of type TIMESTAMP',
  },
];

/** What counts once a platform's family is clear: Synapse and Fabric scripts carry T-SQL's signs, too. */
const familyOf: Readonly<Record<PlatformName, PlatformName>> = {
  sqlserver: 'sqlserver',
  azuresql: 'sqlserver',
  synapse: 'sqlserver',
  fabric: 'sqlserver',
  databricks: 'spark',
  delta: 'spark',
  spark: 'spark',
  duckdb: 'duckdb',
};

/** Most characters looked at: what tells stands early in long scripts. */
const sampleLength = 200_000;
/** A header stands at the top, below a house's own lines. */
const headerLength = 20_000;

/** The platform in the specification of a generated script's header; it stands before anything that a person may name. */
const header = /^-- mergewright: \{[^\n]*?"platform":"([a-z]+(?::\d+)?)"/m;

/** What is left to ask where T-SQL is certain: whether it is Synapse's or Fabric's. */
const signsBeyondTsql = [
  { platform: 'sqlserver', pattern: goLine, weight: 3, what: 'GO lines and names in brackets' } as const,
  ...signs.filter(({ platform }) => platform !== 'sqlserver' && familyOf[platform] === 'sqlserver'),
];

/** Guesses the platform from a text's header or syntax; undefined where nothing tells. */
export function guessPlatform(text: string): PlatformGuess | undefined {
  const sample = text.slice(0, sampleLength);
  if (/^\s*(?:--|#|\/\/)\s*Databricks notebook source/.test(sample)) {
    return { platform: 'databricks', reason: 'The file is a Databricks notebook.' };
  }
  const stated = parsePlatform(header.exec(sample.slice(0, headerLength))?.[1] ?? '');
  if (stated !== undefined) {
    return { platform: stated.name, reason: `The file's header says that it was generated for ${stated.name}.` };
  }
  const code = withoutCommentsAndStrings(sample);
  const found = (isSurelyTsql(code) ? signsBeyondTsql : signs).filter((sign) => sign.pattern.test(code));
  const family = heaviest(found, (sign) => familyOf[sign.platform]);
  if (family === undefined) return undefined;
  const own = found.filter((sign) => familyOf[sign.platform] === family);
  // A platform's own syntax outweighs what it shares with its family.
  const special = own.filter((sign) => sign.platform !== family && sign.platform !== 'sqlserver');
  const platform = heaviest(special.length > 0 ? special : own, (sign) => sign.platform) ?? family;
  const [strongest] = own.filter((sign) => sign.platform === platform).sort((a, b) => b.weight - a.weight);
  return { platform, reason: `The file has ${strongest?.what ?? own[0]?.what ?? ''}.` };
}

/** The platform alone. */
export function detectPlatform(text: string): PlatformName | undefined {
  return guessPlatform(text)?.platform;
}

/**
 * The platform of a text where one is expected: the expected one, unless the text has signs of another. T-SQL without
 * syntax of its own does not tell Fabric from SQL Server, nor Spark SQL Databricks from Spark.
 */
export function platformOrExpected(text: string, expected: PlatformName): PlatformName {
  const detected = detectPlatform(text);
  if (detected === undefined) return expected;
  const family = familyOf[detected];
  return detected === family && familyOf[expected] === family ? expected : detected;
}

/** Whether a text that is read as T-SQL has any sign of it: T-SQL is also what texts without signs are taken for. */
export function hasSignsOfTsql(text: string): boolean {
  const code = withoutCommentsAndStrings(text.slice(0, headerLength));
  return signs.some(({ platform, pattern }) => isTsql(platform) && pattern.test(code));
}

/** Platforms whose files lie in one database, as far as a folder can tell. */
export function sameFamily(left: PlatformName, right: PlatformName): boolean {
  return familyOf[left] === familyOf[right];
}

/**
 * No other engine has both, a column `go` on a line of its own and a list `[x]` hardly ever meet; so most of the files of
 * a SQL Server house are held against few signs.
 */
function isSurelyTsql(code: string): boolean {
  return goLine.test(code) && nameInBrackets.test(code);
}

function heaviest(found: readonly Sign[], key: (sign: Sign) => PlatformName): PlatformName | undefined {
  const weights = new Map<PlatformName, number>();
  for (const sign of found) weights.set(key(sign), (weights.get(key(sign)) ?? 0) + sign.weight);
  let best: PlatformName | undefined;
  for (const [platform, weight] of weights) {
    if (best === undefined || weight > (weights.get(best) ?? 0)) best = platform;
  }
  return best;
}

/** The text with blanks for its comments and `''` for its strings. */
export function withoutCommentsAndStrings(text: string): string {
  return text.replace(/--[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^']|'')*'/g, (match) => (match.startsWith("'") ? "''" : ' '));
}
