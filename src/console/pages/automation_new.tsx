import { Stack } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { NewAutomationEditor } from '../parts/automation/automation_editor.tsx';
import { NEW_DEFINITION } from '../parts/automation/definition_text.ts';
import { Back } from '../parts/back.tsx';
import { MayKeep } from '../parts/for_role.tsx';
import { PageTitle } from '../parts/page_title.tsx';

const route = getRouteApi('/signed-in/p/$projectId/automations/new');

export const NewAutomationPage = () => {
  const { projectId } = route.useParams();
  return (
    <Stack>
      <Back to="/p/$projectId/automations" projectId={projectId} label="Automations" />
      <PageTitle title="New automation" />
      <MayKeep projectId={projectId} />
      <NewAutomationEditor projectId={projectId} definition={NEW_DEFINITION} />
    </Stack>
  );
};
