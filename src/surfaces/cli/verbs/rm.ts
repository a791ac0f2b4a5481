// `errand rm`: hides tasks; what runs of them is canceled first.
import { oneOf, texts } from '../arguments.ts'
import { forEachTask } from '../each-ref.ts'
import { defineVerb } from '../verb.ts'

const childrenPolicies = ['promote', 'cascade', 'refuse'] as const

export const verb = defineVerb({
  usage: 'rm ID… [--children promote|cascade|refuse]',
  help: 'Deletes tasks; live ones are canceled first. Children become tasks of their own (promote, the default), go along (cascade), or forbid it (refuse).',
  options: texts('children'),
  positionals: { min: 1 },
  async run(io, args) {
    const children =
      args.values.children === undefined ? undefined : oneOf('children', args.values.children, childrenPolicies)
    return await forEachTask(io, args, async (engine, task) => {
      const deleted = await engine.delete(task.id, { children })
      return deleted ? 'deleted' : 'was deleted already'
    })
  },
})
