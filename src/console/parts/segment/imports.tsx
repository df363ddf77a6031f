import { Alert, Button, FileInput, Group, List, Paper, Stack, Text, Textarea } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api.ts';
import type { Outputs } from '../../api.ts';
import { useChange } from '../../changes.ts';
import { segmentImports } from '../../segment_queries.ts';
import { Refused } from '../refused.tsx';
import { RefusedList } from '../refused_list.tsx';
import { When } from '../when.tsx';

type Props = { projectId: string; segmentId: string };
type Imported = Outputs['segments']['import'];

const ERRORS_SHOWN = 10;

const Report = ({ report }: { report: Imported }) => (
  <>
    <Alert color="teal" role="status">
      {report.people.toLocaleString()} people are on the list now.
      {report.unknown > 0 && ` ${report.unknown.toLocaleString()} are nobody whom we know.`}
    </Alert>
    {report.errors.length > 0 && (
      <Alert color="yellow" title={`${report.unread.toLocaleString()} lines could not be read`}>
        <List size="sm">
          {report.errors.slice(0, ERRORS_SHOWN).map(({ line, message }) => (
            <List.Item key={line} className="breaks">
              Line {line}: {message}
            </List.Item>
          ))}
        </List>
      </Alert>
    )}
  </>
);

const Past = ({ projectId, segmentId }: Props) => {
  const { data } = useQuery(segmentImports(projectId, segmentId));
  const [asked, setAsked] = useState<string | null>(null);
  const undo = useChange(projectId, ['segments'], (importId: string) =>
    api.segments.undoImport.mutate({ projectId, importId }),
  );
  const press = (importId: string): void => {
    if (asked !== importId) return setAsked(importId);
    undo.mutate(importId);
    setAsked(null);
  };
  return (
    <Stack gap="xs">
      <Refused error={undo.error} />
      {data?.items.map(({ import_id, people, imported_at, undone_at }) => (
        <Group key={import_id} justify="space-between">
          <Group gap="xs">
            <Text size="sm">{people.toLocaleString()} people</Text>
            <When at={imported_at} />
          </Group>
          {undone_at === null ? (
            <Button
              size="xs"
              color={asked === import_id ? 'red' : 'gray'}
              variant={asked === import_id ? 'filled' : 'default'}
              onClick={() => press(import_id)}
            >
              {asked === import_id ? 'Yes, take it back' : 'Take it back'}
            </Button>
          ) : (
            <Text size="sm" c="dimmed">
              taken back
            </Text>
          )}
        </Group>
      ))}
    </Stack>
  );
};

/** Puts people into a static segment by a list, and takes lists back. */
export const Imports = (props: Props) => {
  const { projectId, segmentId } = props;
  const [csv, setCsv] = useState('');
  const take = useChange(projectId, ['segments'], () =>
    api.segments.import.mutate({ projectId, segmentId, people: { csv } }),
  );
  return (
    <Paper withBorder p="md" component="section">
      <Stack gap="sm">
        <Text size="sm" c="dimmed">
          CSV with a column external_id or email, of people whom you have sent events of. Whoever is
          suppressed or unsubscribed stays out.
        </Text>
        <FileInput
          label="A file"
          placeholder="Choose CSV"
          accept=".csv,.txt,text/csv"
          clearable
          onChange={(file) => void file?.text().then(setCsv)}
        />
        <Textarea
          label="Or the list itself"
          placeholder={'external_id\nann\nbob'}
          value={csv}
          onChange={(event) => setCsv(event.currentTarget.value)}
          autosize
          minRows={4}
          maxRows={12}
          styles={{ input: { fontFamily: 'monospace' } }}
        />
        <Button
          style={{ alignSelf: 'flex-start' }}
          disabled={csv.trim() === ''}
          loading={take.isPending}
          onClick={() => take.mutate(undefined)}
        >
          Import
        </Button>
        <RefusedList error={take.error} />
        {take.data && <Report report={take.data} />}
        <Past {...props} />
      </Stack>
    </Paper>
  );
};
