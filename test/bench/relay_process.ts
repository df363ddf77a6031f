import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { SmtpSettings } from '../../src/providers/settings.ts';
import type { Taken } from './bare_relay.ts';

export type Relay = {
  settings: SmtpSettings;
  /** When the first byte of the message to each address came. */
  firstByteAt: Map<string, number>;
  /** Expects so many messages more. Called, it starts the clock; resolves when they are taken: how many a second. */
  expect: (count: number) => () => Promise<number>;
  close: () => void;
};

/** A relay in a process of its own. */
export const startRelay = async (): Promise<Relay> => {
  const child = fork(join(import.meta.dirname, 'bare_relay.ts'));
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  const firstByteAt = new Map<string, number>();
  let count = 0;
  let onTaken = (): void => {};
  child.on('message', ({ taken }: { taken: Taken }) => {
    for (const one of taken) firstByteAt.set(one.to, one.firstByteAt);
    count += taken.length;
    onTaken();
  });
  return {
    settings: {
      provider: 'smtp',
      smtp_host: '127.0.0.1',
      smtp_port: port,
      smtp_secure: 'none',
      username: 'bench',
      password: 'bench',
    },
    firstByteAt,
    expect: (more) => {
      const goal = count + more;
      return () => {
        const startedAt = performance.now();
        return new Promise((resolve) => {
          onTaken = () => {
            if (count >= goal) resolve((more * 1_000) / (performance.now() - startedAt));
          };
          onTaken();
        });
      };
    },
    close: () => child.disconnect(),
  };
};
