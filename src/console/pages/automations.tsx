import { Anchor, Button, Group, Stack, Table, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { automations } from '../automation_queries.ts';
import type { ListedAutomation } from '../automation_queries.ts';
import { AutomationStatus } from '../parts/automation/automation_status.tsx';
import { Library } from '../parts/automation/library.tsx';
import { useNames } from '../parts/automation/use_names.ts';
import { triggerInWords } from '../parts/automation/words.ts';
import type { Names } from '../parts/automation/words.ts';
import { Empty } from '../parts/empty.tsx';
import { ForRole } from '../parts/for_role.tsx';
import { PageTitle } from '../parts/page_title.tsx';
import { Paged } from '../parts/paged.tsx';

const route = getRouteApi('/signed-in/p/$projectId/automations');
const count = new Intl.NumberFormat();

type RowProps = { automation: ListedAutomation; projectId: string; names: Names };

const Row = ({ automation, projectId, names }: RowProps) => {
  const { id, name, status, trigger, counts, has_goal } = automation;
  const goal = has_goal ? count.format(counts.converted) : '–';
  return (
    <Table.Tr>
      <Table.Td>
        <Anchor
          fw={600}
          className="breaks"
          renderRoot={(props) => (
            <Link
              {...props}
              to="/p/$projectId/automations/$automationId"
              params={{ projectId, automationId: id }}
            />
          )}
        >
          {name}
        </Anchor>
        <Text size="sm" c="dimmed" className="breaks">
          {triggerInWords(trigger, names)}
        </Text>
        <Group hiddenFrom="sm" mt={6} gap="xs">
          <AutomationStatus status={status} />
          <Text size="sm" c="dimmed">
            {count.format(counts.inside)} in it · {count.format(counts.sent)} sent · goal {goal}
          </Text>
        </Group>
      </Table.Td>
      <Table.Td visibleFrom="sm">
        <AutomationStatus status={status} />
      </Table.Td>
      <Table.Td visibleFrom="sm" className="number" ta="right">
        {count.format(counts.inside)}
      </Table.Td>
      <Table.Td visibleFrom="sm" className="number" ta="right">
        {count.format(counts.sent)}
        {counts.is_capped && '+'}
      </Table.Td>
      <Table.Td visibleFrom="sm" className="number" ta="right">
        {goal}
      </Table.Td>
    </Table.Tr>
  );
};

const New = ({ projectId }: { projectId: string }) => (
  <Button
    renderRoot={(props) => (
      <Link {...props} to="/p/$projectId/automations/new" params={{ projectId }} />
    )}
  >
    New automation
  </Button>
);

const NoAutomation = ({ projectId }: { projectId: string }) => (
  <Stack>
    <Empty title="No automation yet">
      <Stack align="flex-start">
        Build your own: an event starts it, steps follow.
        <ForRole projectId={projectId} role="editor" to="to build an automation">
          <New projectId={projectId} />
        </ForRole>
      </Stack>
    </Empty>
    <ForRole projectId={projectId} role="editor">
      <Library projectId={projectId} />
    </ForRole>
  </Stack>
);

export const AutomationsPage = () => {
  const { projectId } = route.useParams();
  const list = useInfiniteQuery(automations(projectId));
  const names = useNames(projectId);
  const isEmpty = list.data?.pages[0]?.items.length === 0;
  return (
    <Stack>
      <Group justify="space-between" align="flex-end">
        <PageTitle title="Automations" note="What should follow when something happens." />
        {!isEmpty && (
          <ForRole projectId={projectId} role="editor" to="to build an automation">
            <New projectId={projectId} />
          </ForRole>
        )}
      </Group>
      <Paged list={list} empty={<NoAutomation projectId={projectId} />}>
        {(items) => (
          <Table verticalSpacing="sm" withTableBorder highlightOnHover>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>Automation</Table.Th>
                <Table.Th visibleFrom="sm">Status</Table.Th>
                <Table.Th visibleFrom="sm" ta="right">
                  In it now
                </Table.Th>
                <Table.Th visibleFrom="sm" ta="right">
                  Mails sent
                </Table.Th>
                <Table.Th visibleFrom="sm" ta="right">
                  Goal reached
                </Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {items.map((one) => (
                <Row key={one.id} automation={one} projectId={projectId} names={names} />
              ))}
            </Table.Tbody>
          </Table>
        )}
      </Paged>
    </Stack>
  );
};
