// `errand board`: the tasks of the ledger as one list for agents and people, and the verbs below it.
import { boardStatuses } from '../../../entities/board.ts'
import { lists, misuse, oneOf, switches, texts } from '../../terminal/arguments.ts'
import { printBoard } from '../../terminal/board-text.ts'
import { type CommandIo, note, print, printJson } from '../../terminal/io.ts'
import { type BoardAccess, type BoardChoice, boardOptions, chosenTasks, withBoard } from '../board-target.ts'
import { defineVerb, verbTable } from '../verb.ts'

const boardVerbs = verbTable({
  init: {
    summary: 'create a board, and a folder of task files that mirrors it',
    load: () => import('./board/folders.ts'),
  },
  add: { summary: 'add a task', load: () => import('./board/tasks.ts') },
  show: { summary: 'show a task with its blockers, parts and messages', load: () => import('./board/tasks.ts') },
  claim: { summary: 'claim a task', load: () => import('./board/claims.ts') },
  done: { summary: 'complete a task', load: () => import('./board/claims.ts') },
  release: { summary: 'release a task', load: () => import('./board/claims.ts') },
  block: { summary: 'make a task wait for others', load: () => import('./board/tasks.ts') },
  unblock: { summary: 'stop a task from waiting for others', load: () => import('./board/tasks.ts') },
  why: { summary: 'explain why a task does not start', load: () => import('./board/tasks.ts') },
  graph: {
    summary: 'list the open tasks in an order that respects their blockers',
    load: () => import('./board/tasks.ts'),
  },
  log: { summary: 'list who claimed a task, and when', load: () => import('./board/claims.ts') },
  rm: { summary: 'delete tasks', load: () => import('./board/tasks.ts') },
  send: { summary: 'send a message to a member of the team', load: () => import('./board/mail.ts') },
  inbox: { summary: 'read your messages', load: () => import('./board/mail.ts') },
  respond: { summary: 'approve or reject a request', load: () => import('./board/mail.ts') },
  import: { summary: 'import a folder of task files', load: () => import('./board/folders.ts') },
  export: { summary: 'export the board to a folder of task files', load: () => import('./board/folders.ts') },
  sync: { summary: 'synchronize the board and a folder of task files', load: () => import('./board/folders.ts') },
})

export const board = defineVerb({
  usage: 'board [VERB] [--ready] [--status S]… [--owner NAME] [--watch] [--board NAME]',
  help: [
    'Shows the board: [ ] pending, [>] in progress, [x] completed, [!] failed, [-] deleted. --json prints one task per line.',
    'Every task of the ledger is on the board and has a number there; the verbs below take that number, an id, or a unique prefix of an id.',
    '  --ready       only tasks that may be claimed now, the most urgent first',
    `  --status S    only tasks in this state (${boardStatuses.join(', ')}); may be given several times`,
    '  --owner NAME  only tasks that NAME has claimed, is meant to do, or has completed',
    '  --watch       keep showing changes until Ctrl-C: redraws the board on a terminal, else prints one line per change',
    '  --board NAME  a board other than main, created with "errand board init --board NAME --parent TASK"',
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
      throw misuse('--ready selects pending tasks without an owner: it cannot be combined with --status or --owner.')
    return await withBoard(io, values, async (access) => {
      if (values.watch) {
        const { watchBoard } = await import('../watch-board.ts')
        return await watchBoard(io, access, { choice, json: values.json === true })
      }
      await show(io, access, choice, values.json === true)
    })
  },
})

async function show(io: CommandIo, access: BoardAccess, choice: BoardChoice, json: boolean): Promise<void> {
  const { tasks, total } = await chosenTasks(access, choice)
  if (json) for (const task of tasks) printJson(io, task)
  else if (tasks.length === 0) print(io, choice.ready ? 'Nothing to claim.' : 'No tasks.')
  else printBoard(io, tasks)
  if (total > tasks.length) note(io, `${total - tasks.length} more are not shown.`)
}
