import { type PlatformName, sqlServerVersions } from '../../../protocol/platform.ts';

/** What the server says of itself. */
export interface ServerProduct {
  /** `SERVERPROPERTY('EngineEdition')`. */
  readonly engineEdition: number;
  /** `SERVERPROPERTY('ProductVersion')`, such as `16.0.4095.4`. */
  readonly version: string;
  /** Host name of the profile. */
  readonly host: string;
}

interface Product {
  readonly name: string;
  /** Platforms whose texts the product takes, the nearest one first; none for a product that no platform stands for. */
  readonly platforms: readonly PlatformName[];
}

const boxed: Product = { name: 'SQL Server', platforms: ['sqlserver'] };

/** Products by their engine edition (documentation of SERVERPROPERTY). */
const products: ReadonlyMap<number, Product> = new Map([
  [1, boxed],
  [2, boxed],
  [3, boxed],
  [4, boxed],
  [5, { name: 'Azure SQL Database', platforms: ['azuresql'] }],
  [6, { name: 'an Azure Synapse dedicated SQL pool', platforms: ['synapse'] }],
  [8, { name: 'Azure SQL Managed Instance', platforms: ['azuresql', 'sqlserver'] }],
  [9, { name: 'Azure SQL Edge', platforms: ['sqlserver'] }],
  [11, { name: 'Microsoft Fabric', platforms: ['fabric'] }],
  [12, { name: 'a SQL database in Microsoft Fabric', platforms: ['azuresql'] }],
]);
/** A serverless pool and Fabric bear the same number; the address tells them apart. */
const serverless: Product = { name: 'an Azure Synapse serverless SQL pool', platforms: [] };

/** Why texts for the profile's platform may not fit the server, as sentences; empty where they do or nobody can tell. */
export function productWarnings(platform: PlatformName, { engineEdition, version, host }: ServerProduct): string[] {
  const isServerless = engineEdition === 11 && /-ondemand\./i.test(host);
  const product = isServerless ? serverless : products.get(engineEdition);
  if (product === undefined) return [];
  if (product.platforms.includes(platform)) return product === boxed ? ageWarnings(version) : [];
  const [nearest] = product.platforms;
  const advice =
    nearest === undefined
      ? 'No platform stands for it: loads cannot write its tables.'
      : `Set "platform" of the profile to "${nearest}", else texts are made for another engine.`;
  return [`The server is ${product.name}, but the profile says ${platform}. ${advice}`];
}

/** Texts for `sqlserver` without a version use what SQL Server 2019 brought. */
function ageWarnings(version: string): string[] {
  const years = new Map([11, 12, 13, 14, 15, 16, 17].map((major, index) => [major, sqlServerVersions[index]]));
  const year = years.get(Number(version.split('.')[0]));
  if (year === undefined || year >= 2019) return [];
  return [
    `The server is SQL Server ${year}: say "platform": "sqlserver:${year}" in mergewright.json, else texts are made for SQL Server 2019.`,
  ];
}
