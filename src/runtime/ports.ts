import { connect } from 'node:net';
import type { Home } from './home.ts';

const isTaken = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    }).on('error', () => resolve(false));
  });

/** Throws when a port that a start needs is somebody else's, before anything is started. */
export const checkPorts = async ({ port, mailPort, smtpPort }: Home): Promise<void> => {
  const needed = {
    'the API': port,
    'the mail catcher': mailPort,
    "the mail catcher's SMTP": smtpPort,
  };
  for (const [what, number] of Object.entries(needed)) {
    if (await isTaken(number)) {
      throw new Error(
        `Port ${number}, for ${what}, is in use: another start is running, or set PORT (now ${port}; the three ` +
          'after it are used too).',
      );
    }
  }
};
