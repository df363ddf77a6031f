import { join } from 'node:path';

/** Where the SDKs are when they are built: for packages, and for the pages that load the script. */
export const SDK_FOLDER = join(import.meta.dirname, '..', '..', 'dist', 'sdk');
export const SDK_SCRIPT = 'trunkline.js';
