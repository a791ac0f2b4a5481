// The tasks of a board: `errand board add`, `show`, `block`, `unblock`, `why`, `graph` and `rm`.

import { type FlagsOf, lists, misuse, oneOf, texts, wholeNumber } from '../../../terminal/arguments.ts'
import { printBoard, printChanged, printUnblocked } from '../../../terminal/board-text.ts'
import { cliCaller } from '../../../terminal/caller.ts'
import { type CommandIo, print, printJson, printValue } from '../../../terminal/io.ts'
import { boardOptions, boardRef, boardRefs, withBoard } from '../../board-target.ts'
import { childrenFates, forEachRef } from '../../each-task.ts'
import { contextText, readContext } from '../../task-context.ts'
import { defineVerb } from '../../verb.ts'

export const add = defineVerb({
  usage: 'board add SUBJECT [--after N,…] [--description TEXT] [--priority N] [--role R] [--tag T]… [--owner NAME]',
  help: [
    'Adds a task to the board, where it waits for a claim. Creates a missing ledger.',
    '  --after N,…         the task waits for these; may be given several times',
    '  --description TEXT  everything needed to do the task',
    '  --priority N        higher is claimed first; default 0',
    '  --role R            only clients with this role may claim it',
    '  --tag T             a tag to claim by; may be given several times',
    '  --owner NAME        only NAME may claim it',
    '  --parent N          adds it as a part of this task',
  ].join('\n'),
  options: {
    ...boardOptions,
    ...texts('description', 'priority', 'role', 'owner', 'parent'),
    ...lists('after', 'tag'),
  },
  positionals: { min: 1, max: 1 },
  async run(io, { values, positionals: [subject = ''] }) {
    const { after, description, priority, role, tag: tags, owner, parent } = values
    const urgency = priority === undefined ? undefined : wholeNumber('priority', priority, Number.MIN_SAFE_INTEGER)
    const fields = { subject, description, priority: urgency, role, tags, owner }
    return await withBoard(io, { ...values, create: true }, async ({ engine, board }) => {
      const position = {
        blockedBy: await boardRefs(engine, after),
        parent: parent === undefined ? undefined : await boardRef(engine, parent),
        board,
      }
      const { task } = await engine.bus.call('board:create', { ...fields, ...position }, cliCaller)
      printChanged(io, values, task)
    })
  },
})

export const show = defineVerb({
  usage: 'board show N',
  help: 'Shows a task of the board: its fields and owner, the tasks it waits for with their results, its parts, questions and latest messages. --json prints the task alone. "errand show" also shows its runs and calls.',
  options: boardOptions,
  positionals: { min: 1, max: 1 },
  run: (io, { values, positionals: [ref = ''] }) =>
    withBoard(io, values, async (access) => {
      const { engine, board } = access
      const id = await boardRef(engine, ref)
      if (values.json) printJson(io, (await engine.bus.call('board:get', { id, board }, cliCaller)).task)
      else print(io, contextText(await readContext(access, id)))
    }),
})

const blockerOptions = { ...boardOptions, ...lists('after') }

export const block = defineVerb({
  usage: 'board block N --after M,…',
  help: 'Makes a pending task wait for others: it may be claimed when they are completed. --after may be given several times.',
  options: blockerOptions,
  positionals: { min: 1, max: 1 },
  run: (io, { values, positionals: [ref = ''] }) => changeBlockers(io, values, ref, 'addBlockedBy'),
})

export const unblock = defineVerb({
  usage: 'board unblock N --after M,…',
  help: 'Stops a task from waiting for others. --after may be given several times.',
  options: blockerOptions,
  positionals: { min: 1, max: 1 },
  run: (io, { values, positionals: [ref = ''] }) => changeBlockers(io, values, ref, 'removeBlockedBy'),
})

async function changeBlockers(
  io: CommandIo,
  values: FlagsOf<typeof blockerOptions>,
  ref: string,
  change: 'addBlockedBy' | 'removeBlockedBy',
): Promise<void> {
  if (values.after === undefined) throw misuse('The tasks to wait for are missing: give --after 1,2')
  return await withBoard(io, values, async ({ engine, board }) => {
    const id = await boardRef(engine, ref)
    const input = { id, [change]: await boardRefs(engine, values.after), board }
    const { task, unblocked } = await engine.bus.call('board:update', input, cliCaller)
    printChanged(io, values, task, unblocked)
  })
}

export const why = defineVerb({
  usage: 'board why N',
  help: 'Explains why a task does not start: what blocks it, who works on it, what it waits for.',
  options: boardOptions,
  positionals: { min: 1, max: 1 },
  run: (io, { values, positionals: [ref = ''] }) =>
    withBoard(io, values, async ({ engine, board }) => {
      const why = await engine.bus.call('board:why', { id: await boardRef(engine, ref), board }, cliCaller)
      printValue(io, values, why, why.message)
      if (values.json) return
      for (const id of why.blockedBy)
        printBoard(io, [(await engine.bus.call('board:get', { id, board }, cliCaller)).task])
    }),
})

export const graph = defineVerb({
  usage: 'board graph',
  help: 'Lists the open tasks in an order that respects their blockers, then the unblocked tasks that block others, those with the most first. "errand graph" draws the same as a diagram.',
  options: boardOptions,
  positionals: { max: 0 },
  run: (io, { values }) =>
    withBoard(io, values, async ({ engine, board }) => {
      const graph = await engine.bus.call('board:graph', { board }, cliCaller)
      if (values.json) printJson(io, graph)
      else if (graph.order.length === 0) print(io, 'No open tasks.')
      else {
        printBoard(io, graph.order)
        for (const { id, holdsUp } of graph.critical) print(io, `    #${id} holds up ${holdsUp}`)
      }
    }),
})

export const rm = defineVerb({
  usage: 'board rm N… [--children promote|cascade|refuse]',
  help: [
    'Deletes tasks. Tasks no longer wait for them, and their numbers are not used again.',
    '  --children P  their parts: promote (default) makes them top-level tasks, cascade deletes them too, refuse refuses to delete a task with parts',
  ].join('\n'),
  options: { ...boardOptions, ...texts('children') },
  positionals: { min: 1 },
  async run(io, { values, positionals }) {
    const children = oneOf('children', values.children ?? 'promote', childrenFates)
    return await withBoard(io, values, ({ engine, board }) =>
      forEachRef(io, values, positionals, async (ref) => {
        const id = await boardRef(engine, ref)
        const deleted = await engine.bus.call('board:delete', { id, children, board }, cliCaller)
        printValue(io, values, deleted, `#${deleted.id} deleted`)
        if (!values.json) printUnblocked(io, deleted.unblocked)
      }),
    )
  },
})
