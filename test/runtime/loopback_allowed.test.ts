import { expect, test } from 'vitest';
import { requireLoopback } from '../../src/runtime/loopback_allowed.ts';

test.each([[['127.0.0.0/8']], [['10.0.0.0/8', '127.0.0.1/32']]])(
  '%j is enough',
  async (networks) => {
    await expect(requireLoopback(networks)).resolves.toBeUndefined();
  },
);

test.each([
  [['10.0.0.0/8'], 'EGRESS_ALLOW_NETWORKS=10.0.0.0/8,127.0.0.1/32.'],
  [[], 'EGRESS_ALLOW_NETWORKS=127.0.0.1/32.'],
])('%j says which setting starts', async (networks, says) => {
  await expect(requireLoopback(networks)).rejects.toThrow(says);
});
