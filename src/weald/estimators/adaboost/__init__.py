"""AdaBoost of stumps, trees and any other estimator.

The rounds are in `weald.adaboost`. Members are stumps by their own search (`stumps` says which), weald's
`trees`, or `any_members`; `stopping` holds rows out; `rounds` tells the weights of a round again.
"""
