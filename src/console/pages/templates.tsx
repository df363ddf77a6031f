import { Anchor, Group, SegmentedControl, Table, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { Empty } from '../parts/empty.tsx';
import { ForRole } from '../parts/for_role.tsx';
import { ListPage, NewButton, None } from '../parts/list_page.tsx';
import { When } from '../parts/when.tsx';
import { templates } from '../template_queries.ts';
import type { ListedTemplate } from '../template_queries.ts';

const route = getRouteApi('/signed-in/p/$projectId/templates');

const Row = ({ template, projectId }: { template: ListedTemplate; projectId: string }) => (
  <Table.Tr>
    <Table.Td>
      <Anchor
        fw={600}
        className="breaks"
        renderRoot={(props) => (
          <Link
            {...props}
            to="/p/$projectId/templates/$templateId"
            params={{ projectId, templateId: template.id }}
          />
        )}
      >
        {template.name}
      </Anchor>
      <Group hiddenFrom="sm" gap="xs">
        <Text size="sm" c="dimmed">
          Version {template.version}
        </Text>
        <When at={template.updated_at} />
      </Group>
    </Table.Td>
    <Table.Td visibleFrom="sm" className="number">
      {template.version}
    </Table.Td>
    <Table.Td visibleFrom="sm">
      <When at={template.updated_at} />
    </Table.Td>
  </Table.Tr>
);

const choices = [
  { value: 'used', label: 'In use' },
  { value: 'archived', label: 'Archived' },
];

export const TemplatesPage = () => {
  const { projectId } = route.useParams();
  const [shown, setShown] = useState('used');
  const isArchived = shown === 'archived';
  const list = useInfiniteQuery(templates(projectId, isArchived));
  const add = (
    <ForRole projectId={projectId} role="editor" to="to write a template">
      <NewButton projectId={projectId} to="/p/$projectId/templates/new" label="New template" />
    </ForRole>
  );
  const none = isArchived ? (
    <Empty title="Nothing is archived">What you put away is found here.</Empty>
  ) : (
    <None title="No template yet" action={add}>
      A template is what a mail says. Automations send it, with what is known of each person.
    </None>
  );
  const filter = (
    <SegmentedControl
      aria-label="Which templates"
      data={choices}
      value={shown}
      onChange={setShown}
    />
  );
  return (
    <ListPage
      title="Templates"
      note="What your mails say."
      list={list}
      filter={filter}
      action={add}
      empty={none}
    >
      {(items) => (
        <Table verticalSpacing="sm" withTableBorder highlightOnHover>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Template</Table.Th>
              <Table.Th visibleFrom="sm">Version</Table.Th>
              <Table.Th visibleFrom="sm">Changed</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {items.map((one) => (
              <Row key={one.id} template={one} projectId={projectId} />
            ))}
          </Table.Tbody>
        </Table>
      )}
    </ListPage>
  );
};
