import { Badge, Button, Group, Paper, Select, Stack, Text } from '@mantine/core';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api.ts';
import { automationVersion, automationVersions } from '../../automation_queries.ts';
import type { Automation } from '../../automation_queries.ts';
import { useChange } from '../../changes.ts';
import { Differences } from '../differences.tsx';
import { ForRole } from '../for_role.tsx';
import { Paged } from '../paged.tsx';
import { Refused } from '../refused.tsx';
import { When } from '../when.tsx';

type Props = { projectId: string; kept: Automation };

const useText = ({ projectId, kept }: Props, version: number): string | null => {
  const { data } = useQuery({
    ...automationVersion(projectId, kept.id, version),
    enabled: version > 0,
  });
  if (version === 0) return '';
  return data ? JSON.stringify(data.definition, null, 2) : null;
};

const Difference = ({ to, ...props }: Props & { to: number }) => {
  const [from, setFrom] = useState(to - 1);
  const [before, after] = [useText(props, from), useText(props, to)];
  const data = Array.from({ length: to - 1 }, (_, at) => String(to - 1 - at));
  return (
    <Stack gap="xs">
      {to > 1 && (
        <Select
          label="Compared with version"
          data={data}
          value={String(from)}
          onChange={(version) => setFrom(Number(version))}
          allowDeselect={false}
          w={220}
        />
      )}
      {before !== null && after !== null && <Differences before={before} after={after} />}
    </Stack>
  );
};

const One = ({ version, at, ...props }: Props & { version: number; at: string }) => {
  const { projectId, kept } = props;
  const [isOpen, setIsOpen] = useState(false);
  const here = kept.inside.filter((one) => one.version === version);
  const people = here.reduce((sum, one) => sum + one.people, 0);
  const activate = useChange(projectId, ['automations'], () =>
    api.automations.activate.mutate({ projectId, automationId: kept.id, version }),
  );
  const isActive = version === kept.active_version;
  return (
    <Paper withBorder p="sm" component="li">
      <Stack gap="sm">
        <Group justify="space-between">
          <Group gap="xs">
            <Text fw={600}>Version {version}</Text>
            <When at={at} />
            {isActive && (
              <Badge variant="light" color="teal">
                who comes now follows it
              </Badge>
            )}
            {people > 0 && (
              <Badge variant="light" color="cyan">
                {here.some((one) => one.is_capped) && 'over '}
                {people.toLocaleString()} in it
              </Badge>
            )}
          </Group>
          <Group gap="xs">
            <Button
              size="xs"
              variant="default"
              aria-expanded={isOpen}
              onClick={() => setIsOpen(!isOpen)}
            >
              {isOpen ? 'Close' : 'What it changed'}
            </Button>
            {!isActive && kept.status !== 'archived' && (
              <ForRole projectId={projectId} role="editor">
                <Button
                  size="xs"
                  variant="default"
                  loading={activate.isPending}
                  onClick={() => activate.mutate(undefined)}
                >
                  Activate
                </Button>
              </ForRole>
            )}
          </Group>
        </Group>
        <Refused error={activate.error} />
        {isOpen && <Difference {...props} to={version} />}
      </Stack>
    </Paper>
  );
};

/** Every version, and what each changed. */
export const Versions = (props: Props) => {
  const { projectId, kept } = props;
  const list = useInfiniteQuery(automationVersions(projectId, kept.id));
  return (
    <Paged list={list} empty={null}>
      {(items) => (
        <Stack gap="sm" component="ul" m={0} p={0} style={{ listStyle: 'none' }}>
          {items.map(({ version, created_at }) => (
            <One key={version} {...props} version={version} at={created_at} />
          ))}
        </Stack>
      )}
    </Paged>
  );
};
