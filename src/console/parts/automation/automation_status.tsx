import type { Automation } from '../../automation_queries.ts';
import { Status } from '../status.tsx';

const statuses: Record<Automation['status'], { word: string; color: string }> = {
  draft: { word: 'Draft', color: 'gray' },
  active: { word: 'Active', color: 'teal' },
  paused: { word: 'Paused', color: 'orange' },
  archived: { word: 'Archived', color: 'gray' },
};

export const AutomationStatus = ({ status }: { status: Automation['status'] }) => (
  <Status {...statuses[status]} />
);
