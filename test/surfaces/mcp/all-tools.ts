// The abilities that the tests of the tools offer: more than any toolset.
export const allTools = [
  'board:*',
  'task:create',
  'task:get',
  'task:list',
  'task:wait',
  'task:answer',
  'task:cancel',
  'task:send',
  'task:messages',
] as const
