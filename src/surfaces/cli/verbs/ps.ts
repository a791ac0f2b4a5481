// `errand ps`: tasks as a table, or one JSON object a line; with --watch for as long as somebody looks.
import { systemClock } from '../../../clock.ts'
import { statusWords } from '../../../entities/status-filter.ts'
import { openStatuses, taskStatuses } from '../../../entities/task.ts'
import { lists, oneOf, switches, texts } from '../arguments.ts'
import { allTasks } from '../each-task.ts'
import { printItems } from '../io.ts'
import { withLedger } from '../open-ledger.ts'
import type { TaskChoice } from '../task-choice.ts'
import { openTasks } from '../task-list.ts'
import { taskTable } from '../task-table.ts'
import { defineVerb } from '../verb.ts'

export const verb = defineVerb({
  usage: 'ps [--all] [--status S]… [--ready] [--owner NAME] [--tag T]… [--watch]',
  help: [
    `Lists the tasks that are not settled, and the failed groups that they are in; --all lists every one, --status those in one state (${taskStatuses.join(', ')}; ${statusWords.filter((word) => !taskStatuses.some((status) => status === word)).join(', ')} are understood too). --json gives one task a line.`,
    '  --ready       only what waits for nothing but a slot (queued) or somebody who claims it (claimable)',
    '  --owner NAME  only what this owner has claimed',
    '  --tag T       only tasks with this tag; with several, with all of them',
    '  --watch       goes on until Ctrl-C: on a terminal the table is redrawn, elsewhere each change is a line',
  ].join('\n'),
  options: {
    ...texts('owner'),
    ...lists('status', 'tag'),
    ...switches('ready'),
    all: { type: 'boolean', short: 'a' },
    watch: { type: 'boolean', short: 'w' },
  },
  positionals: { max: 0 },
  async run(io, { values }) {
    const { status, ready, owner, tag: tags } = values
    const isNarrowed = [status, ready, owner, tags].some((given) => given !== undefined)
    const choice: TaskChoice = {
      status: status?.map((each) => oneOf('status', each, statusWords)) ?? (values.all ? undefined : [...openStatuses]),
      ready,
      owner,
      tags,
    }
    return await withLedger(io, values, async (engine) => {
      if (values.watch) {
        const { watchTasks } = await import('../watch-tasks.ts')
        return await watchTasks(io, engine, { choice, json: values.json === true })
      }
      const tasks = await (isNarrowed || values.all ? allTasks(engine, choice) : openTasks(engine))
      printItems(io, values, tasks, taskTable(tasks, systemClock.now(), io.stdout.columns))
    })
  },
})
