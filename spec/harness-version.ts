import { createRequire } from 'node:module';

function readVersion(): string {
  // By the package's own name, which is found from the sources as well as from dist/.
  const manifest: unknown = createRequire(import.meta.url)('petstore-harness/package.json');
  if (typeof manifest === 'object' && manifest !== null && 'version' in manifest)
    return String(manifest.version);
  throw new TypeError('package.json has no version');
}

/** The version of this package, as reports and the user-agent name it. */
export const HARNESS_VERSION = readVersion();
