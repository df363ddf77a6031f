import { Anchor, Badge, Group, Paper, Stack, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { Entry } from '../api.ts';
import { AutomationLink } from './object_links.tsx';
import { inText } from './told.tsx';
import { When } from './when.tsx';

const Who = ({ entry, projectId }: { entry: Entry; projectId: string }) => {
  const id = entry.external_id ?? entry.anonymous_id ?? '';
  return (
    <Anchor
      size="sm"
      className="breaks"
      renderRoot={(props) => (
        <Link
          {...props}
          to="/p/$projectId/profiles"
          params={{ projectId }}
          search={{ query: id }}
        />
      )}
    >
      {entry.external_id === null ? `anonymous ${id}` : id}
    </Anchor>
  );
};

/** What our own events say by ids that nobody reads: links lead there. */
const UNREAD = ['send_id', 'automation_id', 'template_id'];

const Properties = ({ entry: { properties, source } }: { entry: Entry }) => {
  const pairs = Object.entries(properties).filter(
    ([name]) => source !== 'system' || !UNREAD.includes(name),
  );
  if (pairs.length === 0) return null;
  return (
    <Text size="sm" c="dimmed" className="breaks" lineClamp={3}>
      {pairs.map(([name, value]) => `${name}: ${inText(value)}`).join(' · ')}
    </Text>
  );
};

const idIn = ({ properties, source }: Entry, name: string): string | null => {
  const id = properties[name];
  return source === 'system' && typeof id === 'string' ? id : null;
};

/** The mail that an event of ours is about, or the automation that planned none. */
const Cause = ({ entry, projectId }: { entry: Entry; projectId: string }) => {
  const [sendId, automationId] = [idIn(entry, 'send_id'), idIn(entry, 'automation_id')];
  if (sendId !== null)
    return (
      <Anchor
        size="sm"
        renderRoot={(props) => (
          <Link {...props} to="/p/$projectId/sends/$sendId" params={{ projectId, sendId }} />
        )}
      >
        the mail
      </Anchor>
    );
  if (automationId === null) return null;
  return (
    <AutomationLink projectId={projectId} automationId={automationId}>
      the automation
    </AutomationLink>
  );
};

type Props = { entries: Entry[]; projectId: string; withWho?: boolean };

/** Events, one below the other: what, who, with which properties, when. */
export const Entries = ({ entries, projectId, withWho = true }: Props) => (
  <Paper withBorder>
    <Stack component="ol" gap={0} m={0} p={0} style={{ listStyle: 'none' }}>
      {entries.map((entry, at) => (
        <Group
          key={entry.id}
          component="li"
          justify="space-between"
          align="baseline"
          gap="xs"
          p="sm"
          style={at === 0 ? {} : { borderTop: '1px solid var(--mantine-color-default-border)' }}
        >
          <Stack gap={2} className="breaks" flex="1 1 220px">
            <Group gap="xs">
              <Text fw={600} size="sm" ff="monospace" className="breaks">
                {entry.event}
              </Text>
              {withWho && <Who entry={entry} projectId={projectId} />}
              <Cause entry={entry} projectId={projectId} />
              {entry.source !== 'server' && (
                <Badge size="xs" variant="light" color="gray">
                  {entry.source}
                </Badge>
              )}
            </Group>
            <Properties entry={entry} />
          </Stack>
          <When at={entry.occurred_at} />
        </Group>
      ))}
    </Stack>
  </Paper>
);
