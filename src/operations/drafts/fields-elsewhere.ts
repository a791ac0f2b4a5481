// What people who come from other systems write when they create a task.

const schedule = 'A task that recurs is made by a schedule: engine.schedules.put({ name, every or cron, task }).'

/** The fields of a task by their names in job queues and workflow engines; a sentence where there is no such field. */
export const fieldsElsewhere: Readonly<Record<string, string>> = {
  parent: 'parentId',
  parent_id: 'parentId',
  delay: 'delayMs',
  after: 'blockedBy',
  dependsOn: 'blockedBy',
  depends_on: 'blockedBy',
  needs: 'blockedBy',
  attempts: 'retry',
  maxAttempts: 'retry',
  retries: 'retry',
  timeout: 'timeoutMs',
  runAt: 'notBefore',
  startAt: 'notBefore',
  args: 'input',
  data: 'input',
  params: 'input',
  payload: 'input',
  id: 'key',
  idempotencyKey: 'key',
  jobId: 'key',
  workflowId: 'key',
  prompt: 'goal',
  title: 'name',
  cron: schedule,
  every: schedule,
  repeat: schedule,
  schedule,
}
