import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** Debian's and macOS's account without rights; any uid that is not ours would do. */
export const OTHER_USER = 65_534;

/** Not synchronous: the server that it asks may be in this process. */
const run = async (script: string, args: string[]): Promise<string> => {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--input-type=module', '-e', script, '--', ...args],
    { cwd: '/', env: {}, uid: OTHER_USER, gid: OTHER_USER },
  );
  return stdout.trim();
};

/** Returns why a test cannot act as another user of this machine, or null when it can. */
export const whyNoOtherUser = async (): Promise<string | null> => {
  if (process.getuid?.() !== 0) return 'only root can act as another user';
  return run('', []).then(
    () => null,
    (error: Error) => `another user cannot run Node here: ${error.message}`,
  );
};

/** Runs a module of Node as another user of this machine; returns what it wrote. Its arguments begin at `argv[1]`. */
export const asOtherUser = (script: string, ...args: string[]): Promise<string> =>
  run(script, args);
