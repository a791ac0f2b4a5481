// Rules about runs: their numbers, and what a task says about its latest one.
import { counted } from '../../core/counted.ts'
import { sql } from '../statement.ts'
import { liveRuns } from '../tables/run.ts'
import { type Check, statementCheck } from './rule.ts'

const numbers = statementCheck(
  {
    name: 'run-numbers',
    explains:
      'The runs of a task are numbered from 1 to the number in its row, because that number is the fence that refuses writes of earlier runs.',
  },
  sql`select task.id as subject, task.run as latest, coalesce(numbered.runs, 0) as runs, numbered.lowest, numbered.highest
    from task left join (
      select task_id, count(*) as runs, min(number) as lowest, max(number) as highest from run group by task_id
    ) as numbered on numbered.task_id = task.id
    where task.run <> coalesce(numbered.runs, 0)
      or numbered.lowest <> 1 or numbered.highest <> task.run`,
  ({ latest, runs, lowest, highest }) =>
    Number(runs) === 0
      ? `Its row counts ${counted(Number(latest), 'run')}, and none is recorded.`
      : `Its row counts ${counted(Number(latest), 'run')}, and recorded are ${runs}, numbered from ${lowest} to ${highest}.`,
)

const attempts = statementCheck(
  {
    name: 'run-attempt',
    explains:
      'Each run belongs to a generation and an attempt that its task has begun, because generations count up, and attempts do within one.',
  },
  sql`select task.id as subject, run.number, run.generation, run.attempt, task.generation as "latestGeneration", task.attempt as latest
    from run join task on task.id = run.task_id
    where run.generation < 1 or run.generation > task.generation
      or run.attempt < 1 or (run.attempt > task.attempt and run.generation = task.generation)`,
  ({ number, generation, attempt, latestGeneration, latest }) =>
    `Run ${number} is of generation ${generation} and attempt ${attempt}, and the task is at generation ${latestGeneration} and attempt ${latest}.`,
)

const openRun = statementCheck(
  {
    name: 'open-run',
    explains:
      'A task says that it has an open run exactly while its latest run is not closed, because it gets no other run before that.',
  },
  sql`select task.id as subject, task.run as latest, task.run_open as says, unclosed.number as found
    from task left join run as unclosed on unclosed.task_id = task.id and unclosed.status <> 'closed'
    where task.run_open <> case when unclosed.number is null then 0 else 1 end
      or unclosed.number <> task.run`,
  ({ latest, says, found }) => {
    if (found === null) return `It says that run ${latest} is open, and no run of it is.`
    if (says !== 1) return `It says that no run is open, and run ${found} is not closed.`
    return `Run ${found} is not closed, though its latest run is ${latest}.`
  },
)

const liveRun = statementCheck(
  {
    name: 'live-run',
    explains:
      'A task with an executor is working exactly while it has a live run: without one nothing would end its work, and a live run elsewhere could still write.',
  },
  sql`select task.id as subject, task.status, live.number
    from task left join run as live on live.task_id = task.id and live.status in (${liveRuns})
    where (live.number is not null and task.status <> 'working')
      or (live.number is null and task.status = 'working' and task.executor is not null and task.is_group = 0)`,
  ({ status, number }) =>
    number === null ? 'It is working, and it has no live run.' : `It is ${status}, and its run ${number} is live.`,
)

const holder = statementCheck(
  {
    name: 'run-holder',
    explains:
      'An open run names an engine that the ledger knows, because otherwise no engine could find out that its holder is lost.',
  },
  sql`select run.task_id as subject, run.number, run.instance_id as holder from run
    where run.status <> 'closed'
      and not exists (select 1 from instance where instance.id = run.instance_id)`,
  ({ number, holder }) => `Run ${number} is open in the engine ${holder}, which the ledger does not know.`,
)

export const runChecks: readonly Check[] = [numbers, attempts, openRun, liveRun, holder]
