// `errand board add`: a task for whoever claims it.
import { lists, texts, wholeNumber } from '../../arguments.ts'
import { boardOptions, boardRef, boardRefs, fromHere, withBoard } from '../../board-place.ts'
import { printChanged } from '../../board-text.ts'
import { defineVerb } from '../../verb.ts'

export const verb = defineVerb({
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
    return await withBoard(
      io,
      values,
      async ({ engine, board }) => {
        const { task } = await engine.bus.call(
          'board:create',
          {
            subject,
            description,
            priority: urgency,
            role,
            tags,
            owner,
            blockedBy: await boardRefs(engine, after),
            parent: parent === undefined ? undefined : await boardRef(engine, parent),
            board,
          },
          fromHere,
        )
        printChanged(io, values, task)
      },
      { create: true },
    )
  },
})
