// `errand board`: the tasks of the ledger as one list for many agents and people, and the verbs that belong to it.
import { boardStatuses } from '../../../entities/board.ts'
import { lists, misuse, oneOf, switches, texts } from '../../../terminal/arguments.ts'
import { printBoard } from '../../../terminal/board-text.ts'
import { type CommandIo, note, print, printJson } from '../../../terminal/io.ts'
import { type BoardAccess, type BoardChoice, boardOptions, chosenTasks, withBoard } from '../board-target.ts'
import { defineVerb, verbTable } from '../verb.ts'

const boardVerbs = verbTable({
  init: { summary: 'make a board, and a folder of files that mirrors it', load: () => import('./board/folders.ts') },
  add: { summary: 'put a task on it', load: () => import('./board/tasks.ts') },
  show: { summary: 'one task, with what belongs to it', load: () => import('./board/tasks.ts') },
  claim: { summary: 'take a task', load: () => import('./board/claims.ts') },
  done: { summary: 'say that a task is done', load: () => import('./board/claims.ts') },
  release: { summary: 'let go of a task', load: () => import('./board/claims.ts') },
  block: { summary: 'let a task come after others', load: () => import('./board/blockers.ts') },
  unblock: { summary: 'let a task go on without others', load: () => import('./board/blockers.ts') },
  why: { summary: 'why a task does not move', load: () => import('./board/tasks.ts') },
  graph: { summary: 'the open tasks in an order in which they can be done', load: () => import('./board/tasks.ts') },
  log: { summary: 'who claimed a task, and when', load: () => import('./board/claims.ts') },
  rm: { summary: 'take tasks off for good', load: () => import('./board/tasks.ts') },
  send: { summary: 'tell a member of the team something', load: () => import('./board/mail.ts') },
  inbox: { summary: 'read what you were told', load: () => import('./board/mail.ts') },
  respond: { summary: 'say yes or no to what you were asked', load: () => import('./board/mail.ts') },
  import: { summary: 'take over a folder of task files', load: () => import('./board/folders.ts') },
  export: { summary: 'write the board to a folder of task files', load: () => import('./board/folders.ts') },
  sync: { summary: 'bring the board and a folder of task files in step', load: () => import('./board/folders.ts') },
})

export const board = defineVerb({
  usage: 'board [VERB] [--ready] [--status S]… [--owner NAME] [--watch] [--board NAME]',
  help: [
    'Shows the board: [ ] pending, [>] in progress, [x] completed, [!] failed, [-] deleted. --json gives one task a line.',
    'Every task of the ledger is on it, under a number of its own; the verbs below take that number, an id, or a unique beginning of one.',
    '  --ready       only what may be claimed now, the most urgent first',
    `  --status S    only tasks in one state (${boardStatuses.join(', ')}); may be given several times`,
    '  --owner NAME  only what this one works on, is meant to do, or has completed',
    '  --watch       goes on until Ctrl-C: on a terminal the board is redrawn, elsewhere each change is a line',
    '  --board NAME  another board than main, made with "errand board init --board NAME --parent TASK"',
  ].join('\n'),
  options: {
    ...boardOptions,
    ...texts('owner'),
    ...lists('status'),
    ...switches('ready'),
    watch: { type: 'boolean', short: 'w' },
  },
  positionals: { max: 0 },
  verbs: boardVerbs,
  async run(io, { values }) {
    const choice: BoardChoice = {
      ready: values.ready === true,
      statuses: values.status?.map((status) => oneOf('status', status, boardStatuses)),
      owner: values.owner,
    }
    if (choice.ready && (choice.statuses !== undefined || choice.owner !== undefined))
      throw misuse('--ready is what nobody owns and is pending: it goes with neither --status nor --owner.')
    return await withBoard(io, values, async (place) => {
      if (values.watch) {
        const { watchBoard } = await import('../watch-board.ts')
        return await watchBoard(io, place, { choice, json: values.json === true })
      }
      await show(io, place, choice, values.json === true)
    })
  },
})

async function show(io: CommandIo, place: BoardAccess, choice: BoardChoice, json: boolean): Promise<void> {
  const { tasks, total } = await chosenTasks(place, choice)
  if (json) for (const task of tasks) printJson(io, task)
  else if (tasks.length === 0) print(io, choice.ready ? 'Nothing to claim.' : 'No tasks.')
  else printBoard(io, tasks)
  if (total > tasks.length) note(io, `${total - tasks.length} more are not shown.`)
}
