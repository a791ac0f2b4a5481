// `errand ps`, `show`, `tree` and `why`. verbs.ts loads them together, so that the bundler makes one file of them.
export { ps } from './verbs/ps.ts'
export { show } from './verbs/show.ts'
export { tree } from './verbs/tree.ts'
export { why } from './verbs/why.ts'
