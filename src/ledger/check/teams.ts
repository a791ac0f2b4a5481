// Rules about the teams of tasks.
import { counted } from '../../core/counted.ts'
import { sql } from '../statement.ts'
import { type Check, statementCheck } from './rule.ts'

const numbers = statementCheck(
  {
    name: 'team-numbers',
    explains:
      'The objectives of a task, and the periods in which an agent works on it, are numbered from 1 without gaps, because they are only added and are known by these numbers.',
  },
  sql`select task_id as subject, null as agent, count(*) as found, min(number) as lowest, max(number) as highest from objective
      group by task_id having min(number) <> 1 or max(number) <> count(*)
    union all
    select task_id, agent_id, count(*), min(number), max(number) from stint
      group by task_id, agent_id having min(number) <> 1 or max(number) <> count(*)`,
  ({ agent, found, lowest, highest }) =>
    `${agent === null ? `It has ${counted(Number(found), 'objective')}` : `The agent ${agent} has worked on it for ${counted(Number(found), 'period')}`}, numbered from ${lowest} to ${highest}.`,
)

const closed = statementCheck(
  {
    name: 'closed-team',
    explains:
      'A closed team belongs to a completed task and no agent is active in it, because its memory was consolidated for the last time in the transaction that closed it.',
  },
  sql`select task.id as subject, task.status, (
      select count(*) from stint where stint.task_id = task.id and stint.status = 'active') as active
    from team join task on task.id = team.task_id
    where team.closed_at is not null and (task.status <> 'completed'
      or exists (select 1 from stint where stint.task_id = task.id and stint.status = 'active'))`,
  ({ status, active }) =>
    `Its team is closed, though it is ${status} and has ${counted(Number(active), 'active agent')}.`,
)

export const teamChecks: readonly Check[] = [numbers, closed]
