// plan:run: runs a plan that comes from outside, as a value. An engine has it when it was given a folder for plans.
import { z } from 'zod'
import { type Caller, mayRunCommands } from '../../bus/caller.ts'
import { ErrandError } from '../../core/errors.ts'
import { omitUndefined } from '../../core/omit-undefined.ts'
import { oneRound, planRequestShape } from '../../entities/plan-run.ts'
import { taskStatuses } from '../../entities/task.ts'
import type { AbilityHost } from '../../operations/ability-host.ts'
import { operationsOn } from '../../operations/define-operation.ts'
import { runsCommands } from '../../operations/drafts/known-executors.ts'
import { refuseModels } from '../../operations/model-bounds.ts'
import { creationIn } from '../../operations/task/create.ts'
import type { PlansRoot } from '../plans-root.ts'

/** An engine that was given a folder for plans. */
export interface PlanAbilityHost extends AbilityHost {
  readonly plansRoot: PlansRoot
}

/**
 * Answers when the tasks of the round exist; `task:wait` and the events follow them. The plan is a program: the caller needs the right to
 * run commands, and no task or model has it. Its goals name models that the engine offers.
 */
export const planRun = operationsOn<PlanAbilityHost>()({
  id: 'plan:run',
  access: 'admin',
  description:
    'Runs a plan, or continues its round: completed tasks stay, failed ones get a new attempt. Returns when its tasks exist.',
  routes: [
    { endpoint: 'POST /plans', tag: 'Plans', operationId: 'runPlan', summary: 'Run a plan, or continue its round' },
  ],
  input: () =>
    z
      .strictObject({
        plan: z
          .record(z.string(), z.unknown())
          .describe(
            'The plan, as in a plan file (its schema is plan.schema.json of the package), with a `name`. Its folder is the one for plans.',
          ),
        ...planRequestShape(),
      })
      .refine(oneRound.check, oneRound.issue),
  output: () =>
    z.object({
      /** The key of the task that holds the round. */
      round: z.string(),
      /** In the order of the plan, groups before their tasks. */
      tasks: z.array(
        z.object({
          path: z.string(),
          taskId: z.string(),
          /** When the round had been prepared. */
          status: z.enum(taskStatuses),
        }),
      ),
    }),
  models: false,
  creationIn: (given) => creationIn((given as { plan?: unknown } | null)?.plan),
  async handle({ plan, ...request }, { caller, signal }, host) {
    requireRight(caller)
    const { plansRoot: root } = host
    // Loaded when first used: with the parser of YAML.
    const { parsePlanValue } = await import('../parse-plan.ts')
    const { context } = host.drafter
    const parsed = parsePlanValue(plan, { folder: root.folder, executors: undefined })
    root.require(parsed, (executor) => runsCommands(executor, context))
    const engine = await host.engineFor({ ...caller, plan: true })
    const { round, tasks } = await engine.plan(plan, omitUndefined({ ...request, cwd: root.folder, signal }))
    return {
      round,
      tasks: Object.entries(tasks).map(([path, { id, status }]) => ({ path, taskId: id, status })),
    }
  },
})

/** @throws ErrandError FORBIDDEN */
function requireRight(caller: Caller): void {
  refuseModels(caller, 'plan:run')
  if (mayRunCommands(caller)) return
  throw new ErrandError('FORBIDDEN', 'The plan is refused: a plan runs commands, and this caller may not run any.', {})
}
