// board:open: makes a board for what is below a task, or for all, with numbers of its own.
import { z } from 'zod'
import { numberNewcomers, openBoard } from '../../board/numbering.ts'
import { findOnBoard } from '../../board/task-ref.ts'
import { defineAbility } from '../../bus/ability.ts'
import { mainBoard } from '../../entities/board.ts'
import type { AbilityHost } from '../ability-host.ts'
import { placeOf, refSchema } from './board-input.ts'

/** A board that is there already is returned as it is; for another parent that is a KEY_CONFLICT. Not for models. */
export function boardOpen(host: AbilityHost) {
  return defineAbility({
    id: 'board:open',
    access: 'create',
    description: 'Makes a board with numbers of its own: of all tasks, or of those below one.',
    models: false,
    input: z.strictObject({
      board: z
        .string()
        .regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/, 'a name of letters, digits, `_` and `-`')
        .default(mainBoard),
      parent: refSchema.optional().describe('Number on the main board, or id, of the task whose parts it holds.'),
    }),
    output: z.object({ board: z.string(), parentId: z.string().nullable(), nextNumber: z.number() }),
    handle: async ({ board, parent }, { caller }) => {
      if (parent !== undefined) await numberNewcomers(host, mainBoard)
      const { at } = await host.moment()
      return host.step({
        name: 'open board',
        *decide(tx) {
          const place = placeOf(mainBoard, caller)
          const parentId = parent === undefined ? null : (yield* findOnBoard(tx, place, parent)).task.id
          const opened = yield* openBoard(tx, board, parentId, at)
          return { board: opened.name, parentId: opened.parentId, nextNumber: opened.nextNumber }
        },
      })
    },
  })
}
