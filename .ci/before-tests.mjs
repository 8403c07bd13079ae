/** What tests read in dist/ is put there before the first one: `npx tap FILE` works in a clone that was never built. */
import { execSync } from 'node:child_process';

execSync('npm run --silent bundles', { stdio: ['ignore', 'ignore', 'inherit'] });
