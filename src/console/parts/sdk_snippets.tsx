import { Anchor, Code, Group, Stack, Tabs, Text, TextInput } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import {
  moduleSnippet,
  scriptTagSnippet,
  segmentSnippet,
  serverSnippet,
} from '../../sdk/snippets.ts';
import { Copy } from './copy.tsx';

type Kind = 'publishable' | 'server';

const ways = [
  {
    name: 'script',
    label: 'Script tag',
    kind: 'publishable',
    snippet: scriptTagSnippet,
    about: 'Before the end of the head of every page. Page views and clicks are sent from then on.',
  },
  {
    name: 'module',
    label: 'Module',
    kind: 'publishable',
    snippet: moduleSnippet,
    about: 'In a page that you bundle. Call it when somebody signs in, does something, signs out.',
  },
  {
    name: 'server',
    label: 'Server',
    kind: 'server',
    snippet: serverSnippet,
    about: 'In your own backend, on Node.js.',
  },
  {
    name: 'segment',
    label: 'Segment',
    kind: 'server',
    snippet: segmentSnippet,
    about: "Segment's own library, with this service as its host.",
  },
] as const;

const keys: Record<Kind, { label: string; start: string; wrong: string }> = {
  publishable: {
    label: 'Your publishable key',
    start: 'svc_pub_',
    wrong:
      'This is no publishable key: those begin with svc_pub_. Never put a server key into a page.',
  },
  server: {
    label: 'Your server key',
    start: 'svc_secret_',
    wrong: 'This is no server key: those begin with svc_secret_.',
  },
};

const KeyField = ({
  kind,
  value,
  onChange,
}: {
  kind: Kind;
  value: string;
  onChange: (key: string) => void;
}) => (
  <TextInput
    label={keys[kind].label}
    description="Paste it to have it in the text below. It stays in this page."
    placeholder={`${keys[kind].start}live_…`}
    value={value}
    onChange={({ currentTarget }) => onChange(currentTarget.value)}
    error={value === '' || value.trim().startsWith(keys[kind].start) ? null : keys[kind].wrong}
    autoComplete="off"
    spellCheck={false}
  />
);

/** How to send events, in four ways, with the reader's own key and this service's address. */
export const SdkSnippets = ({ projectId }: { projectId: string }) => {
  const [pasted, setPasted] = useState<Record<Kind, string>>({ publishable: '', server: '' });
  return (
    <Stack gap="sm">
      <Tabs defaultValue={ways[0].name} keepMounted={false}>
        <Tabs.List mb="md">
          {ways.map(({ name, label }) => (
            <Tabs.Tab key={name} value={name}>
              {label}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {ways.map(({ name, label, kind, snippet, about }) => {
          const key = pasted[kind].trim();
          const isRight = key.startsWith(keys[kind].start);
          const filled = { apiHost: location.origin, ...(isRight ? { key } : {}) };
          return (
            <Tabs.Panel key={name} value={name}>
              <Stack gap="sm">
                <Text size="sm">{about}</Text>
                <KeyField
                  kind={kind}
                  value={pasted[kind]}
                  onChange={(typed) => setPasted({ ...pasted, [kind]: typed })}
                />
                <Group align="flex-start" wrap="nowrap" gap="xs">
                  <Code block className="snippet" flex={1} aria-label={`${label}: the text`}>
                    {snippet(filled)}
                  </Code>
                  <Copy value={snippet(filled)} what={`the text: ${label}`} />
                </Group>
              </Stack>
            </Tabs.Panel>
          );
        })}
      </Tabs>
      <Text size="sm" c="dimmed">
        Keys are shown once, when they are made, and kept as hashes. If yours is lost,{' '}
        <Anchor
          size="sm"
          underline="always"
          renderRoot={(props) => (
            <Link {...props} to="/p/$projectId/settings/keys" params={{ projectId }} />
          )}
        >
          make a new one
        </Anchor>
        .
      </Text>
    </Stack>
  );
};
