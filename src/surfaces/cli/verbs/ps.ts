// `errand ps`: tasks as a table, or one JSON object a line; with --watch for as long as somebody looks.
import type { Engine } from '../../../api.ts'
import { systemClock } from '../../../clock.ts'
import { statusWords } from '../../../entities/status-filter.ts'
import { openStatuses, type Task, taskStatuses } from '../../../entities/task.ts'
import { oneOf } from '../arguments.ts'
import { eachTask } from '../each-task.ts'
import { exitCodes } from '../exit-code.ts'
import { print, printJson } from '../io.ts'
import { withLedger } from '../open-ledger.ts'
import type { TaskChoice } from '../task-choice.ts'
import { taskTable } from '../task-table.ts'
import { defineVerb } from '../verb.ts'

export const psVerb = defineVerb({
  usage: 'ps [--all] [--status S]… [--ready] [--owner NAME] [--tag T]… [--watch]',
  help: [
    `Lists the tasks that are not settled, and the failed groups that they are in; --all lists every one, --status those in one state (${taskStatuses.join(', ')}; ${statusWords.filter((word) => !taskStatuses.some((status) => status === word)).join(', ')} are understood too). --json gives one task a line.`,
    '  --ready       only what waits for nothing but a slot (queued) or somebody who claims it (claimable)',
    '  --owner NAME  only what this owner has claimed',
    '  --tag T       only tasks with this tag; with several, with all of them',
    '  --watch       goes on until Ctrl-C: on a terminal the table is redrawn, elsewhere each change is a line',
  ].join('\n'),
  options: {
    all: { type: 'boolean', short: 'a' },
    status: { type: 'string', multiple: true },
    ready: { type: 'boolean' },
    owner: { type: 'string' },
    tag: { type: 'string', multiple: true },
    watch: { type: 'boolean', short: 'w' },
  },
  positionals: { max: 0 },
  async run(io, { values }) {
    const statuses =
      values.status?.map((status) => oneOf('status', status, statusWords)) ??
      (values.all ? undefined : [...openStatuses])
    const choice: TaskChoice = {
      ...(statuses === undefined ? {} : { status: statuses }),
      ...(values.ready ? { ready: true } : {}),
      ...(values.owner === undefined ? {} : { owner: values.owner }),
      ...(values.tag === undefined ? {} : { tags: values.tag }),
    }
    return await withLedger(io, values, async (engine) => {
      if (values.watch) {
        const { watchTasks } = await import('../watch-tasks.ts')
        return await watchTasks(io, engine, { choice, json: values.json === true })
      }
      const tasks: Task[] = []
      for await (const task of eachTask(engine, choice)) {
        if (values.json) printJson(io, task)
        tasks.push(task)
      }
      const narrowed = values.status ?? values.ready ?? values.owner ?? values.tag
      if (narrowed === undefined && !values.all) {
        const failed = await failedGroupsOf(engine, tasks)
        if (values.json) for (const group of failed) printJson(io, group)
        tasks.unshift(...failed)
      }
      if (!values.json) for (const line of taskTable(tasks, systemClock.now(), io.stdout.columns)) print(io, line)
      return exitCodes.done
    })
  },
})

/** What cannot move any more is open, and the group that failed by it is not. */
async function failedGroupsOf(engine: Pick<Engine, 'get'>, open: readonly Task[]): Promise<Task[]> {
  const seen = new Set(open.map(({ id }) => id))
  const failed: Task[] = []
  for (const { parentId } of open) {
    for (let id = parentId; id !== null && !seen.has(id); ) {
      seen.add(id)
      const parent = await engine.get(id)
      if (parent?.status !== 'failed' || !parent.group) break
      failed.push(parent)
      id = parent.parentId
    }
  }
  return failed
}
