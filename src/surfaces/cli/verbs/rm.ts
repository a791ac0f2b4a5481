// `errand rm`: deletes tasks.
import { oneOf, texts } from '../../terminal/arguments.ts'
import { childrenFates, forEachTask } from '../each-task.ts'
import { defineVerb } from '../verb.ts'

export const rm = defineVerb({
  usage: 'rm ID… [--children promote|cascade|refuse]',
  help: 'Deletes tasks; open ones are canceled first. Their children become top-level tasks (promote, the default), are deleted too (cascade), or prevent the deletion (refuse).',
  options: texts('children'),
  positionals: { min: 1 },
  async run(io, args) {
    const children = oneOf('children', args.values.children ?? 'promote', childrenFates)
    return await forEachTask(io, args, async (engine, task) => {
      const deleted = await engine.delete(task.id, { children })
      return deleted ? 'deleted' : 'was already deleted'
    })
  },
})
