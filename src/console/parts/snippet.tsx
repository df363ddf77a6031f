import { Anchor, Code, Stack, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { Copyable } from './copy.tsx';

const curl = (origin: string): string =>
  [
    `curl ${origin}/v1/events \\`,
    `  -H "Authorization: Bearer $KEY" \\`,
    `  -H "Content-Type: application/json" \\`,
    `  -d '{"event":"user_signed_up","external_id":"ann","properties":{"email":"ann@example.test"}}'`,
  ].join('\n');

/** How to send a first event. Keys are stored as hashes, so this page cannot show them. */
export const FirstEvent = ({ projectId }: { projectId: string }) => {
  const command = curl(location.origin);
  return (
    <Stack gap="xs">
      <Text size="sm">
        Send a first event. <Code>$KEY</Code> is one of this project’s{' '}
        <Anchor
          size="sm"
          underline="always"
          renderRoot={(props) => (
            <Link {...props} to="/p/$projectId/settings/keys" params={{ projectId }} />
          )}
        >
          keys
        </Anchor>
        . A local installation has the keys of its project Example, and no others, in{' '}
        <Code>.trunkline/dev.json</Code>, as <Code>server_key</Code> and{' '}
        <Code>publishable_key</Code>.
      </Text>
      <Copyable value={command} what="the command" />
    </Stack>
  );
};
