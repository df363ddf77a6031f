import { Group, Stack, Tabs } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { isNotFound } from '../api.ts';
import { automation } from '../automation_queries.ts';
import type { Automation } from '../automation_queries.ts';
import { BackToPerson, useAskedAbout } from '../parts/asked_about.tsx';
import { AutomationEditor } from '../parts/automation/automation_editor.tsx';
import { AutomationStatus } from '../parts/automation/automation_status.tsx';
import { People } from '../parts/automation/people.tsx';
import { RenameAutomation } from '../parts/automation/rename.tsx';
import { Versions } from '../parts/automation/versions.tsx';
import { Back } from '../parts/back.tsx';
import { Empty } from '../parts/empty.tsx';
import { Failed } from '../parts/failed.tsx';
import { Loading } from '../parts/paged.tsx';
import { ForRole } from '../parts/for_role.tsx';
import { PageTitle } from '../parts/page_title.tsx';

const route = getRouteApi('/signed-in/p/$projectId/automations/$automationId');

type KnownProps = { projectId: string; kept: Automation; personId: string | undefined };

const Known = ({ projectId, kept, personId }: KnownProps) => {
  const { definition } = kept;
  const navigate = route.useNavigate();
  if (definition === null) return null;
  return (
    <>
      <Group justify="space-between" align="flex-start">
        <Group gap="xs" align="flex-start">
          <PageTitle title={kept.name} />
          <ForRole projectId={projectId} role="editor">
            <RenameAutomation projectId={projectId} automationId={kept.id} name={kept.name} />
          </ForRole>
        </Group>
        <AutomationStatus status={kept.status} />
      </Group>
      <Tabs defaultValue={personId === undefined ? 'build' : 'people'} keepMounted>
        <Tabs.List mb="md">
          <Tabs.Tab value="build">Build</Tabs.Tab>
          <Tabs.Tab value="people">People</Tabs.Tab>
          <Tabs.Tab value="versions">Versions</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="build">
          <AutomationEditor
            key={kept.id}
            projectId={projectId}
            kept={kept}
            definition={definition}
          />
        </Tabs.Panel>
        <Tabs.Panel value="people" keepMounted={false}>
          <People
            projectId={projectId}
            kept={kept}
            personId={personId}
            onPerson={(next) => void navigate({ search: { person: next?.id }, replace: true })}
          />
        </Tabs.Panel>
        <Tabs.Panel value="versions" keepMounted={false}>
          <Versions projectId={projectId} kept={kept} />
        </Tabs.Panel>
      </Tabs>
    </>
  );
};

export const AutomationPage = () => {
  const { projectId, automationId } = route.useParams();
  const { person: personId } = route.useSearch();
  const person = useAskedAbout(projectId, personId);
  const { data, isPending, error } = useQuery(automation(projectId, automationId));
  return (
    <Stack>
      <Group gap="md">
        <Back to="/p/$projectId/automations" projectId={projectId} label="Automations" />
        {person && <BackToPerson projectId={projectId} person={person} />}
      </Group>
      {isPending && <Loading />}
      {isNotFound(error) && (
        <Empty isPage title="There is no such automation">
          It may have been deleted. Look for it in the list.
        </Empty>
      )}
      {error !== null && !isNotFound(error) && !data && <Failed error={error} />}
      {data && <Known projectId={projectId} kept={data} personId={personId} />}
    </Stack>
  );
};
