// The verbs that list and show tasks, loaded together.
export { ps } from './verbs/ps.ts'
export { show } from './verbs/show.ts'
export { tree } from './verbs/tree.ts'
export { why } from './verbs/why.ts'
