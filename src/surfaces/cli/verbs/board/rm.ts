// `errand board rm`: tasks leave the board for good. One that is refused does not keep the others from it.
import { ErrandError } from '../../../../errors.ts'
import { oneOf } from '../../arguments.ts'
import { boardOptions, boardRef, fromHere, withBoard } from '../../board-place.ts'
import { printFreed } from '../../board-text.ts'
import { exitCodeOf, exitCodes } from '../../exit-code.ts'
import { note, print, printJson } from '../../io.ts'
import { defineVerb } from '../../verb.ts'

const fates = ['promote', 'cascade', 'refuse'] as const

export const rmVerb = defineVerb({
  usage: 'board rm N… [--children promote|cascade|refuse]',
  help: [
    'Takes tasks off the board for good. Nothing waits for them any more, and their numbers are never given again.',
    '  --children P  what becomes of their parts: promote (default) makes them tasks of their own, cascade takes them along, refuse forbids it',
  ].join('\n'),
  options: { ...boardOptions, children: { type: 'string' } },
  positionals: { min: 1 },
  async run(io, { values, positionals }) {
    const children = oneOf('children', values.children ?? 'promote', fates)
    return await withBoard(io, values, async ({ engine, board }) => {
      let code: number = exitCodes.done
      for (const ref of positionals) {
        try {
          const id = await boardRef(engine, ref)
          const gone = await engine.bus.call('board:delete', { id, children, board }, fromHere)
          if (values.json) printJson(io, gone)
          else {
            print(io, `#${gone.id} deleted`)
            printFreed(io, gone.unblocked)
          }
        } catch (error) {
          if (!ErrandError.isInstance(error)) throw error
          note(io, values.json ? JSON.stringify({ error: error.toJSON() }) : `errand: ${error.message}`)
          code = Math.max(code, exitCodeOf(error))
        }
      }
      return code
    })
  },
})
