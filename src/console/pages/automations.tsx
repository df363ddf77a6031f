import { Anchor, Group, Stack, Table, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { automations } from '../automation_queries.ts';
import type { ListedAutomation } from '../automation_queries.ts';
import { AskedAbout, useAskedAbout } from '../parts/asked_about.tsx';
import { AutomationStatus } from '../parts/automation/automation_status.tsx';
import { Library } from '../parts/automation/library.tsx';
import { LocalLinks } from '../parts/automation/local_links.tsx';
import { useNames } from '../parts/automation/use_names.ts';
import { triggerInWords } from '../parts/automation/words.ts';
import type { Names } from '../parts/automation/words.ts';
import { ForRole } from '../parts/for_role.tsx';
import { ListPage, NewButton, None } from '../parts/list_page.tsx';
import type { AboutPerson } from '../roots.tsx';

const route = getRouteApi('/signed-in/p/$projectId/automations');
const count = new Intl.NumberFormat();

type ListProps = { projectId: string; search: AboutPerson };
type RowProps = ListProps & { automation: ListedAutomation; names: Names };

const Row = ({ automation, projectId, search, names }: RowProps) => {
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
              search={search}
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

const Listed = ({ items, ...where }: ListProps & { items: ListedAutomation[] }) => {
  const names = useNames(where.projectId);
  return (
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
          <Row key={one.id} automation={one} names={names} {...where} />
        ))}
      </Table.Tbody>
    </Table>
  );
};

export const AutomationsPage = () => {
  const { projectId } = route.useParams();
  const search = route.useSearch();
  const person = useAskedAbout(projectId, search.person);
  const list = useInfiniteQuery(automations(projectId));
  const add = (
    <ForRole projectId={projectId} role="editor" to="to build an automation">
      <NewButton projectId={projectId} to="/p/$projectId/automations/new" label="New automation" />
    </ForRole>
  );
  const none = (
    <Stack>
      <None title="No automation yet" action={add}>
        Build your own: an event starts it, steps follow.
      </None>
      <ForRole projectId={projectId} role="editor">
        <Library projectId={projectId} />
      </ForRole>
    </Stack>
  );
  return (
    <ListPage
      title="Automations"
      note="What should follow when something happens."
      about={
        <>
          <LocalLinks projectId={projectId} />
          <AskedAbout
            projectId={projectId}
            person={person}
            to="to see why they got its mails, or did not"
          />
        </>
      }
      list={list}
      action={add}
      empty={none}
    >
      {(items) => <Listed items={items} projectId={projectId} search={search} />}
    </ListPage>
  );
};
