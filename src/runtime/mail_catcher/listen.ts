import type { AddressInfo, Server } from 'node:net';

export type Listening = { port: number; close: () => Promise<void> };

const advice: Record<string, (port: number) => string> = {
  EADDRINUSE: (port) =>
    `port ${port} is in use. Stop the program that listens there, or choose another port (0 takes a free one)`,
  EACCES: (port) =>
    `this account may not listen on port ${port}. Choose a port from 1024 on (0 takes a free one)`,
};

/** Starts listening, for this machine only. Resolves to the port; a refusal says what to do about it. */
export const listen = (server: Server, port: number, who: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const onError = (cause: NodeJS.ErrnoException) => {
      const reason = advice[cause.code ?? '']?.(port) ?? cause.message;
      reject(new Error(`${who} cannot start: ${reason}.`, { cause }));
    };
    server.once('error', onError);
    server.listen(port, '127.0.0.1', () => {
      server.off('error', onError);
      resolve((server.address() as AddressInfo).port);
    });
  });
