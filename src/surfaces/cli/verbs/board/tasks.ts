// The tasks of a board themselves: `errand board add`, `show`, `why`, `graph` and `rm`.

import { lists, oneOf, texts, wholeNumber } from '../../../../terminal/arguments.ts'
import { printBoard, printChanged, printFreed } from '../../../../terminal/board-text.ts'
import { cliCaller } from '../../../../terminal/caller.ts'
import { print, printJson, printValue } from '../../../../terminal/io.ts'
import { boardOptions, boardRef, boardRefs, withBoard } from '../../board-target.ts'
import { childrenFates, forEachRef } from '../../each-ref.ts'
import { contextText, readContext } from '../../task-context.ts'
import { defineVerb } from '../../verb.ts'

export const add = defineVerb({
  usage: 'board add SUBJECT [--after N,…] [--description TEXT] [--priority N] [--role R] [--tag T]… [--owner NAME]',
  help: [
    'Puts a task on the board. It waits there until somebody claims it; a ledger that is not there yet is made.',
    '  --after N,…         only after these tasks; may be given several times',
    '  --description TEXT  what one needs to know to do it',
    '  --priority N        higher first; default 0',
    '  --role R            only claims of this role get it',
    '  --tag T             a word to claim by; may be given several times',
    '  --owner NAME        who shall do it; nobody else may claim it then',
    '  --parent N          as a part of this task',
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
    const said = { subject, description, priority: urgency, role, tags, owner }
    return await withBoard(io, { ...values, create: true }, async ({ engine, board }) => {
      const place = {
        blockedBy: await boardRefs(engine, after),
        parent: parent === undefined ? undefined : await boardRef(engine, parent),
        board,
      }
      const { task } = await engine.bus.call('board:create', { ...said, ...place }, cliCaller)
      printChanged(io, values, task)
    })
  },
})

export const show = defineVerb({
  usage: 'board show N',
  help: 'Shows a task of the board: what it is, who has it, what it comes after and what came of that, its parts, questions, and what was said last. --json gives the task alone. "errand show" knows its runs and calls as well.',
  options: boardOptions,
  positionals: { min: 1, max: 1 },
  run: (io, { values, positionals: [ref = ''] }) =>
    withBoard(io, values, async (place) => {
      const { engine, board } = place
      const id = await boardRef(engine, ref)
      if (values.json) printJson(io, (await engine.bus.call('board:get', { id, board }, cliCaller)).task)
      else print(io, contextText(await readContext(place, id)))
    }),
})

export const why = defineVerb({
  usage: 'board why N',
  help: 'Says why a task does not move: what blocks it, who works on it, what it waits for.',
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
  help: 'Lists the open tasks in an order in which they can be done, then those that come after nothing and hold up others, most first. "errand graph" draws the same as a diagram.',
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
    'Takes tasks off the board for good. Nothing waits for them any more, and their numbers are never given again.',
    '  --children P  what becomes of their parts: promote (default) makes them tasks of their own, cascade takes them along, refuse forbids it',
  ].join('\n'),
  options: { ...boardOptions, ...texts('children') },
  positionals: { min: 1 },
  async run(io, { values, positionals }) {
    const children = oneOf('children', values.children ?? 'promote', childrenFates)
    return await withBoard(io, values, ({ engine, board }) =>
      forEachRef(io, values, positionals, async (ref) => {
        const id = await boardRef(engine, ref)
        const gone = await engine.bus.call('board:delete', { id, children, board }, cliCaller)
        printValue(io, values, gone, `#${gone.id} deleted`)
        if (!values.json) printFreed(io, gone.unblocked)
      }),
    )
  },
})
