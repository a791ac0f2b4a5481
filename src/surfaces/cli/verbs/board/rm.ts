// `errand board rm`: tasks leave the board for good. One that is refused does not keep the others from it.
import { oneOf, texts } from '../../arguments.ts'
import { boardOptions, boardRef, fromHere, withBoard } from '../../board-place.ts'
import { printFreed } from '../../board-text.ts'
import { forEachRef } from '../../each-ref.ts'
import { printValue } from '../../io.ts'
import { defineVerb } from '../../verb.ts'

const fates = ['promote', 'cascade', 'refuse'] as const

export const verb = defineVerb({
  usage: 'board rm N… [--children promote|cascade|refuse]',
  help: [
    'Takes tasks off the board for good. Nothing waits for them any more, and their numbers are never given again.',
    '  --children P  what becomes of their parts: promote (default) makes them tasks of their own, cascade takes them along, refuse forbids it',
  ].join('\n'),
  options: { ...boardOptions, ...texts('children') },
  positionals: { min: 1 },
  async run(io, { values, positionals }) {
    const children = oneOf('children', values.children ?? 'promote', fates)
    return await withBoard(io, values, ({ engine, board }) =>
      forEachRef(io, values, positionals, async (ref) => {
        const id = await boardRef(engine, ref)
        const gone = await engine.bus.call('board:delete', { id, children, board }, fromHere)
        printValue(io, values, gone, `#${gone.id} deleted`)
        if (!values.json) printFreed(io, gone.unblocked)
      }),
    )
  },
})
