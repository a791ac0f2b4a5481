// What a client reads about the tools when it connects: how to work with the board, and how tasks are run.

interface Advice {
  /** Given only where all of these are offered. */
  needs: readonly string[]
  text: string
}

const advice: readonly Advice[] = [
  {
    needs: ['board:list'],
    text: 'The errand board holds tasks that outlive this conversation and that people and other agents share. Tasks are named by number: { "id": 3 }. board_list shows them all.',
  },
  {
    needs: ['board:claim_next', 'board:complete'],
    text: 'To work: board_claim_next gives you the most urgent task that is free and makes you its owner. Do what its subject and description say, and board_complete it with a short result. Then claim the next one.',
  },
  {
    needs: ['board:claim_next', 'board:wait'],
    text: 'When there is nothing to do, board_claim_next answers { "task": null } and why. If tasks are blocked or in progress, board_wait waits until one is free and claims it; if the board has no open task, you are done.',
  },
  {
    needs: ['board:release'],
    text: 'If you cannot finish a task, board_release it with the reason, so that another can take it.',
  },
  {
    needs: ['board:create'],
    text: 'Put new work on the board with board_create, and name in blockedBy what must be completed first.',
  },
  { needs: ['board:why'], text: 'board_why explains why a task does not move.' },
  {
    needs: ['task:create', 'task:wait', 'task:get'],
    text: 'task_create starts work that errand runs itself and returns at once; it continues when you disconnect. task_wait waits for a limited time and returns the current state, so call it again; task_get returns the result or the questions of a task.',
  },
]

/** The advice on the abilities that are offered; empty when there is none. */
export function instructionsFor(offers: (abilityId: string) => boolean): string {
  return advice
    .filter(({ needs }) => needs.every(offers))
    .map(({ text }) => text)
    .join('\n')
}
