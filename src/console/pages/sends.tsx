import { Anchor, Box, Button, Group, Select, Stack, Table, Text, TextInput } from '@mantine/core';
import { getRouteApi, Link } from '@tanstack/react-router';
import type { SubmitEvent } from 'react';
import type { Send } from '../api.ts';
import { AutomationFilter } from '../parts/automation_filter.tsx';
import { Empty } from '../parts/empty.tsx';
import { fieldOf } from '../parts/form.ts';
import { PageTitle } from '../parts/page_title.tsx';
import { Paged } from '../parts/paged.tsx';
import { ResolveAll } from '../parts/resolve_all.tsx';
import { FirstEvent } from '../parts/snippet.tsx';
import { SendStatus } from '../parts/send_status.tsx';
import { SHOWN_STATUSES, statuses } from '../parts/statuses.ts';
import { subjectOf } from '../parts/untitled.ts';
import { When } from '../parts/when.tsx';
import { useHolds } from '../parts/provider_holds.ts';
import { useSends } from '../live_queries.ts';
import { isFiltered } from '../merge_sends.ts';
import type { SendFilter } from '../queries.ts';

const route = getRouteApi('/signed-in/p/$projectId/sends');
const FILTER_WIDTH_PX = 220;

type RowProps = { send: Send; projectId: string; hold: string | null };

const Row = ({ send, projectId, hold }: RowProps) => (
  <Table.Tr>
    <Table.Td>
      <Anchor
        size="sm"
        fw={600}
        className="breaks"
        renderRoot={(props) => (
          <Link
            {...props}
            to="/p/$projectId/sends/$sendId"
            params={{ projectId, sendId: send.id }}
          />
        )}
      >
        {send.to ?? 'address erased'}
      </Anchor>
      <Text size="sm" c={send.subject === null ? 'dimmed' : 'bright'} className="breaks">
        {subjectOf(send)}
      </Text>
      <Group hiddenFrom="sm" mt={6} gap="xs">
        <SendStatus send={send} hold={hold} />
        <When at={send.queued_at} />
      </Group>
    </Table.Td>
    <Table.Td visibleFrom="sm">
      <SendStatus send={send} hold={hold} />
    </Table.Td>
    <Table.Td visibleFrom="sm" className="number" ta="right">
      {send.attempts}
    </Table.Td>
    <Table.Td visibleFrom="sm">
      <When at={send.queued_at} />
    </Table.Td>
  </Table.Tr>
);

const Log = ({ items, projectId }: { items: Send[]; projectId: string }) => {
  const holds = useHolds(projectId);
  return (
    <Table verticalSpacing="sm" withTableBorder highlightOnHover>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Recipient and subject</Table.Th>
          <Table.Th visibleFrom="sm">Status</Table.Th>
          <Table.Th visibleFrom="sm" ta="right">
            Attempts
          </Table.Th>
          <Table.Th visibleFrom="sm">Planned</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {items.map((send) => (
          <Row
            key={send.id}
            send={send}
            projectId={projectId}
            hold={holds.get(send.provider_id) ?? null}
          />
        ))}
      </Table.Tbody>
    </Table>
  );
};

type FilterProps = {
  projectId: string;
  filter: SendFilter;
  onFilter: (filter: SendFilter) => void;
};

const Filter = ({ projectId, filter, onFilter }: FilterProps) => {
  const submit = (event: SubmitEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const email = fieldOf(event.currentTarget, 'email').trim();
    onFilter({ ...filter, email: email === '' ? undefined : email });
  };
  return (
    <Group align="flex-end" gap="sm">
      <Select
        label="Status"
        placeholder="Every status"
        w={{ base: '100%', sm: FILTER_WIDTH_PX }}
        data={SHOWN_STATUSES.map((status) => ({ value: status, label: statuses[status].word }))}
        value={filter.status ?? null}
        onChange={(status) => onFilter({ ...filter, status: status ?? undefined })}
        clearable
      />
      <AutomationFilter
        projectId={projectId}
        chosen={filter.automation}
        onChoose={(automation) => onFilter({ ...filter, automation })}
        width={FILTER_WIDTH_PX}
      />
      <Box flex={1} miw={240}>
        <form onSubmit={submit}>
          <Group align="flex-end" gap="sm" wrap="nowrap">
            <TextInput
              key={filter.email ?? ''}
              name="email"
              type="search"
              label="Recipient"
              placeholder="ann@example.com"
              defaultValue={filter.email ?? ''}
              flex={1}
            />
            <Button type="submit" variant="default">
              Filter
            </Button>
          </Group>
        </form>
      </Box>
    </Group>
  );
};

export const SendsPage = () => {
  const { projectId } = route.useParams();
  const filter = route.useSearch();
  const navigate = route.useNavigate();
  const list = useSends(projectId, filter);
  const empty = isFiltered(filter) ? (
    <Empty title="No send matches">
      Choose another status, automation or address, or clear the filter.
    </Empty>
  ) : (
    <Empty title="Nothing was sent yet">
      <FirstEvent projectId={projectId} />
    </Empty>
  );
  return (
    <Stack>
      <PageTitle title="Send log" />
      <Filter
        projectId={projectId}
        filter={filter}
        onFilter={(search) => void navigate({ search, replace: true })}
      />
      <Paged list={list} empty={empty}>
        {(items) => (
          <Stack>
            {filter.status === 'unknown' && <ResolveAll items={items} projectId={projectId} />}
            <Log items={items} projectId={projectId} />
          </Stack>
        )}
      </Paged>
    </Stack>
  );
};
