// `errand board`: the tasks of the ledger as one list for many agents and people, and the verbs that belong to it.
import { boardStatuses } from '../../../entities/board.ts'
import { misuse, oneOf } from '../arguments.ts'
import { type BoardChoice, chosenTasks } from '../board-choice.ts'
import { type BoardAccess, boardOptions, withBoard } from '../board-place.ts'
import { printBoard } from '../board-text.ts'
import { exitCodes } from '../exit-code.ts'
import { type CommandIo, note, print, printJson } from '../io.ts'
import { defineVerb, type VerbTable } from '../verb.ts'

const boardVerbs: VerbTable = {
  init: {
    summary: 'make a board, and a folder of files that mirrors it',
    load: async () => (await import('./board/init.ts')).initVerb,
  },
  add: { summary: 'put a task on it', load: async () => (await import('./board/add.ts')).addVerb },
  show: { summary: 'one task, with what belongs to it', load: async () => (await import('./board/show.ts')).showVerb },
  claim: { summary: 'take a task', load: async () => (await import('./board/claim.ts')).claimVerb },
  done: { summary: 'say that a task is done', load: async () => (await import('./board/done.ts')).doneVerb },
  release: { summary: 'let go of a task', load: async () => (await import('./board/release.ts')).releaseVerb },
  block: { summary: 'let a task come after others', load: async () => (await import('./board/block.ts')).blockVerb },
  unblock: {
    summary: 'let a task go on without others',
    load: async () => (await import('./board/block.ts')).unblockVerb,
  },
  why: { summary: 'why a task does not move', load: async () => (await import('./board/why.ts')).whyVerb },
  graph: {
    summary: 'the open tasks in an order in which they can be done',
    load: async () => (await import('./board/graph.ts')).graphVerb,
  },
  log: { summary: 'who claimed a task, and when', load: async () => (await import('./board/log.ts')).logVerb },
  rm: { summary: 'take tasks off for good', load: async () => (await import('./board/rm.ts')).rmVerb },
  send: {
    summary: 'tell a member of the team something',
    load: async () => (await import('./board/send.ts')).sendVerb,
  },
  inbox: { summary: 'read what you were told', load: async () => (await import('./board/inbox.ts')).inboxVerb },
  respond: {
    summary: 'say yes or no to what you were asked',
    load: async () => (await import('./board/respond.ts')).respondVerb,
  },
  import: {
    summary: 'take over a folder of task files',
    load: async () => (await import('./board/import.ts')).importVerb,
  },
  export: {
    summary: 'write the board to a folder of task files',
    load: async () => (await import('./board/export.ts')).exportVerb,
  },
  sync: {
    summary: 'bring the board and a folder of task files in step',
    load: async () => (await import('./board/sync.ts')).syncVerb,
  },
}

export const boardVerb = defineVerb({
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
    ready: { type: 'boolean' },
    status: { type: 'string', multiple: true },
    owner: { type: 'string' },
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
      return exitCodes.done
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
